import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { server } from "../../../src/kinds/compute/server/server.ts";
import { inputs, mapped } from "../mapped.ts";

const mapping = mapped(server);
const desire = (fields: object) =>
  mapping.desire({
    datacenterRef: { name: "berlin" },
    cores: 1,
    ram: 1024,
    bootVolume: { size: 10, type: "HDD", imageAlias: "debian:12", ...fields },
  });
const beginnings = ["#cloud-config", "#!", "#include", "Content-Type:", "MIME-Version:", "#upstart-job"];

const inSpec = (text: string) => () => desire({ userData: Buffer.from(text, "latin1").toString("base64") });
const field = "bootVolume.userDataSecretRef";
const inSecret = (text: string) =>
  desire({ userDataSecretRef: { name: "init" } }).problem(inputs({ secrets: { [field]: text } }));

describe.each(beginnings)("user data that begins with %s", (beginning) => {
  it("is accepted, whatever follows", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = beginning + Buffer.from(bytes).toString("latin1");
        expect(inSpec(text)).not.toThrow();
        expect(inSecret(text)).toBeUndefined();
      }),
    );
  });

  it("is not accepted when it only nearly does", () => {
    const last = beginning.charCodeAt(beginning.length - 1);
    const others = fc.integer({ min: 0, max: 127 }).filter((code) => code !== last);
    fc.assert(
      fc.property(others, fc.string(), (code, rest) => {
        const nearly = beginning.slice(0, -1) + String.fromCharCode(code) + rest;
        fc.pre(!beginnings.some((other) => nearly.startsWith(other)));
        expect(inSpec(nearly)).toThrow("must be the base64 of a text that begins with #cloud-config, #!, #include");
        expect(inSecret(nearly)).toContain("must be plain text that begins with #cloud-config, #!, #include");
      }),
    );
  });
});

describe("user data out of a Secret", () => {
  const most = 49_152;

  it("is told by field, Secret and key, and never shown", () => {
    const problem = inSecret("password: hunter2");
    expect(problem).toBe(
      "bootVolume.userDataSecretRef: userData in Secret init must be plain text that begins with " +
        "#cloud-config, #!, #include, Content-Type:, MIME-Version: or #upstart-job",
    );
  });

  it("may be as long as user data in spec, in bytes", () => {
    const head = "#cloud-config\n";
    expect(inSecret(head + "x".repeat(most - head.length))).toBeUndefined();
    expect(inSecret(`${head}${"x".repeat(most - head.length - 1)}ü`)).toBe(
      "bootVolume.userDataSecretRef: userData in Secret init has 49153 bytes; at most 49152 are allowed",
    );
  });

  it("is not judged while nobody has read it", () => {
    expect(desire({ userDataSecretRef: { name: "init" } }).problem(inputs())).toBeUndefined();
  });
});

describe("the password of an image", () => {
  const field = "bootVolume.imagePasswordSecretRef";
  const wanted = desire({ imagePasswordSecretRef: { name: "login" } });
  const problem = (password: string) => wanted.problem(inputs({ secrets: { [field]: password } }));

  it("is asked for by name and key, and goes to the platform with the creation", () => {
    expect(wanted.secrets).toEqual([{ field, kind: "Secret", name: "login", key: "password" }]);
    expect(wanted.body(inputs({ secrets: { [field]: "abcDEF123" } }))).toMatchObject({
      entities: { volumes: { items: [{ properties: { imagePassword: "abcDEF123" } }] } },
    });
  });

  it("is told by field, Secret and key when the platform would not take it, and never shown", () => {
    for (const bad of ["", "short12", "with space 1", "ümlaut123", "line12345\n"]) {
      expect(problem(bad)).toBe(
        "bootVolume.imagePasswordSecretRef: password in Secret login must be 8 or more letters (A-Z, a-z) and digits",
      );
    }
    expect(problem("abcDEF12")).toBeUndefined();
    expect(wanted.problem(inputs())).toBeUndefined();
  });
});

describe("ssh keys out of a Secret or ConfigMap", () => {
  const [ed, rsa] = ["ssh-ed25519 AAAA me@home", 'from="10.0.0.0/8" ssh-rsa AAAA'];
  const wanted = desire({
    sshKeys: ["ssh-ed25519 AAAA first"],
    sshKeysFrom: [
      { secretKeyRef: { name: "team", key: "keys" } },
      { configMapKeyRef: { name: "admins", key: "authorized_keys" } },
    ],
  });
  const given = (team: string, admins: string) =>
    inputs({ secrets: { "bootVolume.sshKeysFrom[0]": team, "bootVolume.sshKeysFrom[1]": admins } });

  it("are asked for by name and key, and follow those in spec", () => {
    expect(wanted.secrets).toEqual([
      { field: "bootVolume.sshKeysFrom[0]", kind: "Secret", name: "team", key: "keys" },
      { field: "bootVolume.sshKeysFrom[1]", kind: "ConfigMap", name: "admins", key: "authorized_keys" },
    ]);
    const inputs = given(`# the team\n\n${ed}\r\n`, `  ${rsa}`);
    expect(wanted.problem(inputs)).toBeUndefined();
    expect(wanted.body(inputs)).toMatchObject({
      entities: { volumes: { items: [{ properties: { sshKeys: ["ssh-ed25519 AAAA first", ed, rsa] } }] } },
    });
  });

  it("are told by Secret or ConfigMap, key and line when one is none, and never shown", () => {
    const form = "must be one public key on one line, as in authorized_keys: ssh-ed25519 AAAA… comment";
    expect(wanted.problem(given(`${ed}\nhunter2`, rsa))).toBe(
      `bootVolume.sshKeysFrom[0]: keys in Secret team, line 2: ${form}`,
    );
    expect(wanted.problem(given(ed, `# none\n\n-----BEGIN OPENSSH PRIVATE KEY-----`))).toBe(
      `bootVolume.sshKeysFrom[1]: authorized_keys in ConfigMap admins, line 3: ${form}`,
    );
    expect(wanted.problem(given(`${ed} ${"x".repeat(4096)}`, rsa))).toContain("keys in Secret team, line 1: ");
    expect(wanted.problem(inputs())).toBeUndefined();
  });

  it("are missed where there are only comments, and counted together with those in spec", () => {
    expect(wanted.problem(given(ed, "# nobody yet\n"))).toBe(
      "bootVolume.sshKeysFrom[1]: authorized_keys in ConfigMap admins has no public key",
    );
    expect(wanted.problem(given(ed, `${rsa}\n`.repeat(99)))).toBe(
      "bootVolume.sshKeysFrom: 101 keys with those in bootVolume.sshKeys; at most 100 are allowed",
    );
    expect(wanted.problem(given(ed, `${rsa}\n`.repeat(98)))).toBeUndefined();
  });
});
