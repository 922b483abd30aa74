/** Who is calling. Doors establish it, actions and the notebook obey it, and no parameter can forge it. */

export interface Person {
  readonly kind: "person";
  readonly name: string;
  readonly email: string;
  /** Set for the one whose repository it is, and whose own processes (Git's hooks) come with the same token. */
  readonly owner?: true;
}

export interface Agent {
  readonly kind: "agent";
  /** As first written; identity is its fold. */
  readonly name: string;
  /** FNV-1a 32 of the folded name, never 0. */
  readonly agentId: number;
  readonly readOnly: boolean;
  /** True when the token was made for an MCP client. */
  readonly mcp: boolean;
}

export type Principal = Person | Agent;

/** A principal with what its connection said about itself. */
export interface Caller {
  readonly principal: Principal;
  /** From `session.set`; becomes the `Session:` trailer. */
  readonly session: string | null;
  readonly task: string | null;
}
