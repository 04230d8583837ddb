import { z } from "zod";
import { type Descriptor, readBlob, readLayout } from "../formats/oci.ts";

export interface Target {
  host: string;
  /** Path in the registry. */
  name: string;
}

export interface ClientOptions {
  /** User and password in base64. */
  credentials: string | undefined;
  plainHttp: boolean;
}

/** A repository of a registry, by the OCI distribution specification. */
export interface Repository {
  /** The digest of a tag, if the tag exists. */
  resolve(tag: string): Promise<string | undefined>;
  /** Uploads the content of a layout that the repository does not have yet. Returns the number of uploaded blobs. */
  push(layout: string): Promise<number>;
}

const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);

export function openRepository({ host, name }: Target, { credentials, plainHttp }: ClientOptions): Repository {
  const base = new URL(`${plainHttp ? "http" : "https"}://${host}/v2/${name}/`);
  let authorization: string | undefined;

  /** Repeats a call once with the authorization that the registry asks for. */
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, base);
    const send = async () => {
      const headers = new Headers(init.headers);
      // Upload URLs may be on another host, which must not get the password.
      if (authorization !== undefined && url.origin === base.origin) headers.set("authorization", authorization);
      try {
        return await fetch(url, { ...init, headers });
      } catch (error) {
        const { message, cause } = error instanceof Error ? error : new Error(String(error));
        throw new Error(`${url.host} cannot be reached: ${cause instanceof Error ? cause.message : message}`);
      }
    };
    const first = await send();
    if (first.status !== 401) return first;
    authorization = await authorize(first.headers.get("www-authenticate") ?? "", credentials, name);
    return send();
  }

  const failure = async (what: string, answer: Response) =>
    new Error(`${host}/${name}: ${what}: ${answer.status} ${(await answer.text()).slice(0, 300)}`.trim());

  async function sendBlob(layout: string, blob: Descriptor): Promise<boolean> {
    const there = await call(`blobs/${blob.digest}`, { method: "HEAD" });
    if (there.ok) return false;
    const begun = await call("blobs/uploads/", { method: "POST" });
    const location = begun.headers.get("location");
    if (begun.status !== 202 || location === null) throw await failure("the upload was refused", begun);
    const url = new URL(location, base);
    url.searchParams.set("digest", blob.digest);
    const headers = { "content-type": "application/octet-stream" };
    const sent = await call(url.href, { method: "PUT", body: new Uint8Array(readBlob(layout, blob)), headers });
    if (sent.status !== 201) throw await failure(`${blob.digest} was refused`, sent);
    return true;
  }

  async function resolve(tag: string): Promise<string | undefined> {
    const accept = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";
    const answer = await call(`manifests/${tag}`, { method: "HEAD", headers: { accept } });
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw await failure(tag, answer);
    return answer.headers.get("docker-content-digest") ?? undefined;
  }

  async function push(layout: string): Promise<number> {
    let sent = 0;
    for (const { manifest, content, blobs, tag } of readLayout(layout)) {
      for (const blob of blobs) if (await sendBlob(layout, blob)) sent += 1;
      const { mediaType, digest } = manifest;
      const init = { method: "PUT", body: new Uint8Array(content), headers: { "content-type": mediaType } };
      const answer = await call(`manifests/${tag ?? digest}`, init);
      if (answer.status !== 201) throw await failure(`${tag ?? digest} was refused`, answer);
    }
    return sent;
  }

  return { resolve, push };
}

/** The authorization header that a registry asks for: basic authentication, or a token from another server. */
async function authorize(challenge: string, credentials: string | undefined, name: string): Promise<string> {
  const [scheme = ""] = challenge.split(" ");
  const basic = credentials === undefined ? undefined : `Basic ${credentials}`;
  if (scheme.toLowerCase() === "bearer") {
    const field = (key: string) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1];
    const url = new URL(field("realm") ?? "");
    const service = field("service");
    if (service !== undefined) url.searchParams.set("service", service);
    url.searchParams.set("scope", `repository:${name}:pull,push`);
    const answer = await fetch(url, basic === undefined ? {} : { headers: { authorization: basic } });
    if (!answer.ok) throw new Error(`${url.host} gives no token to push to ${name}: ${answer.status}`);
    const { token, access_token } = tokenSchema.parse(await answer.json());
    return `Bearer ${token ?? access_token}`;
  }
  if (basic === undefined) throw new Error("the registry needs a password: REGISTRY_USERNAME and REGISTRY_PASSWORD");
  return basic;
}
