/** The door for this repository's own Git hooks, which run as processes of a person's Git. */
import { type Route, refuse, respond } from "./http.ts";

/** What `POST /hooks/pre-commit` answers. */
export interface PreCommitAnswer {
  /** Notes whose file or index entry is not level yet. */
  readonly lagging: readonly string[];
}

/** Put files and Git index level before a person's commit; persons' tokens only. */
export function hookRoute(levelForCommit: () => Promise<readonly string[]>): Route {
  return {
    needs: "token",
    methods: {
      async POST(request, response, { principal }) {
        if (principal?.kind !== "person") {
          return refuse(request, response, 403, "A hook sends the person's token.");
        }
        const answer: PreCommitAnswer = { lagging: await levelForCommit() };
        respond(response, 200, JSON.stringify(answer));
      },
    },
  };
}
