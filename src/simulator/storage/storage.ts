/** The object storage as the rest of the platform uses it. It writes into every bucket, whoever owns it. */
export interface Storage {
  hasBucket(name: string): boolean;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}
