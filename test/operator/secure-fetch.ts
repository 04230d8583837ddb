import { request } from "node:https";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";

export interface Answer {
  status: number | undefined;
  challenge: string | undefined;
  text: string;
  /** SHA-256 of the server's certificate. */
  fingerprint: string;
}

/** A GET over TLS that accepts any certificate, like a scraper with `insecureSkipVerify`. */
export function secureFetch(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, rejectUnauthorized: false, agent: false }, async (response) => {
      const { socket } = response;
      const fingerprint = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : "";
      const challenge = response.headers["www-authenticate"];
      resolve({ status: response.statusCode, challenge, text: await text(response), fingerprint });
    });
    asked.on("error", reject).end();
  });
}
