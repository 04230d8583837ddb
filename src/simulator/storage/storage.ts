/** The object storage as the rest of a contract uses it. It writes into every bucket of the contract, whoever owns it. */
export interface Storage {
  hasBucket(name: string): boolean;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}

/** The same for all contracts. */
export interface ContractStorage {
  /** Whether the contract has this bucket; names are unique on the whole platform. */
  hasBucket(name: string, contractNumber: number): boolean;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}
