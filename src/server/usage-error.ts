/** A value on the command line that cannot be used; its message names the flag and the way out. */
export class UsageError extends Error {
  readonly code = "ERR_PARSE_ARGS_VALUE";
}
