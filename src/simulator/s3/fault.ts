/** S3's error codes that this storage gives, with their HTTP status. */
const statuses = {
  AccessControlListNotSupported: 400,
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyExists: 409,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidBucketState: 409,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidTag: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedPolicy: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchObjectLockConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  NoSuchWebsiteConfiguration: 404,
  NotImplemented: 501,
  ObjectLockConfigurationNotFoundError: 404,
  PreconditionFailed: 412,
  ReplicationConfigurationNotFoundError: 404,
  RequestTimeTooSkewed: 403,
  ServerSideEncryptionConfigurationNotFoundError: 404,
  SignatureDoesNotMatch: 403,
  TooManyBuckets: 400,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type Code = keyof typeof statuses;

/** Ends a call with S3's error document. `details` become elements of it. */
export class Fault extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;

  constructor(code: Code, message: string, details: Record<string, string> = {}) {
    super(message);
    this.name = "Fault";
    this.code = code;
    this.status = statuses[code];
    this.details = details;
  }
}

export const fault = (code: Code, message: string, details?: Record<string, string>) =>
  new Fault(code, message, details);
