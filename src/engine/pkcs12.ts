import type { Pems } from "./certificate.ts";

export async function keystoreOf(_pems: Pems, _password: string): Promise<Uint8Array> {
  return new Uint8Array();
}

export async function truststoreOf(_ca: string, _password: string): Promise<Uint8Array> {
  return new Uint8Array();
}
