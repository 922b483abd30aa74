/** The package's surface: the typed client, what it throws, and the types of what it says. */
export {
  type Changed,
  type Client,
  type ConnectOptions,
  connect,
  type LinkState,
  type Method,
  type ParamsOf,
  type ResultOf,
  type Subscription,
  type SubscriptionFilter,
  type SubscriptionHandlers,
  UnansweredError,
} from "../client/client.ts";
export { ERRORS, type ErrorCode, NotesError } from "../domain/errors.ts";
export { PROCESS_EXITS, ProcessError } from "../domain/process-error.ts";
