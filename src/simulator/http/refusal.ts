/** The error codes of the core API; the ones the platform does not publish are the simulator's choice. */
export const errorCode = {
  validation: "100",
  refused: "200",
  missing: "309",
  unauthorized: "315",
  tooMany: "420",
  denied: "451",
} as const;

export interface Message {
  errorCode: string;
  message: string;
}

/** Ends a call with the platform's error payload. Thrown inside a transaction it also undoes its writes. */
export class Refusal extends Error {
  readonly status: number;
  readonly messages: Message[];
  readonly headers: Record<string, string>;

  constructor(status: number, messages: Message[], headers: Record<string, string> = {}) {
    super(messages.map((each) => each.message).join("; "));
    this.name = "Refusal";
    this.status = status;
    this.messages = messages;
    this.headers = headers;
  }
}

export function refusal(status: number, code: string, message: string, headers?: Record<string, string>): Refusal {
  return new Refusal(status, [{ errorCode: code, message }], headers);
}

/** 404 with the platform's message, also for a resource that is not visible yet. */
export const missing = () => refusal(404, errorCode.missing, "Resource does not exist");

/** 422: the request is well formed, but the platform does not accept it, or not now. */
export const refused = (message: string) => refusal(422, errorCode.refused, message);

/** 409: the state of something does not allow the call. */
export const conflict = (message: string) => refusal(409, errorCode.refused, message);

/** 422: the resource is being changed by another request. */
export const busy = ({ type, id }: { type: string; id: string }) =>
  refused(`[VDC-14-12] The ${type} ${id} is BUSY; wait until it is AVAILABLE`);

/** 422 for one field; `path` such as `(root).properties.ram`. */
export const invalid = (path: string, message: string) => refusal(422, errorCode.validation, `[${path}] ${message}`);

/** The error payload of the core API. */
export const corePayload = ({ status, messages }: Refusal): unknown => ({ httpStatus: status, messages });

/** The error payload of a newer service, with the codes `paas-<service>-<n>`. */
export const servicePayload =
  (service: string) =>
  ({ status, messages }: Refusal): unknown => ({
    httpStatus: status,
    messages: messages.map(({ errorCode: code, message }) => ({ errorCode: `paas-${service}-${code}`, message })),
  });
