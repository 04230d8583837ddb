import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";
import { type DnsRecord, recordTypes } from "../records/dns.ts";

/** Labels of letters, digits, hyphens and underscores; `*` may be the first one. */
const hostPattern = /^(?!-)([*_a-z0-9]|[_a-z0-9][\w-]{0,61}\w)(\.[_a-z0-9]([\w-]{0,61}\w)?)*\.?$/i;
export const isHostName = (text: string) => text.length <= 253 && hostPattern.test(text);

const host = { rule: "must be a host name", holds: isHostName };
const pattern = (rule: string, form: RegExp) => ({ rule, holds: (text: string) => form.test(text) });

/** The form of the content by type; a type that is not listed takes any text. */
const contents: Readonly<Record<string, { rule: string; holds(text: string): boolean }>> = {
  A: { rule: "must be an IPv4 address", holds: isIPv4 },
  AAAA: { rule: "must be an IPv6 address", holds: isIPv6 },
  CNAME: host,
  ALIAS: host,
  NS: host,
  MX: host,
  SRV: pattern("must be WEIGHT PORT TARGET", /^\d{1,5} \d{1,5} \S+$/),
  CAA: pattern('must be FLAGS TAG "VALUE"', /^\d{1,3} \w+ "?[^"]*"?$/),
  SSHFP: pattern("must be ALGORITHM TYPE FINGERPRINT", /^\d{1,3} \d{1,3} [0-9a-f]+$/i),
  TLSA: pattern("must be USAGE SELECTOR TYPE DATA", /^\d{1,3} \d{1,3} \d{1,3} [0-9a-f]+$/i),
  SMIMEA: pattern("must be USAGE SELECTOR TYPE DATA", /^\d{1,3} \d{1,3} \d{1,3} [0-9a-f]+$/i),
  DS: pattern("must be TAG ALGORITHM TYPE DIGEST", /^\d{1,5} \d{1,3} \d{1,3} [0-9a-f]+$/i),
  URI: pattern('must be WEIGHT "TARGET"', /^\d{1,5} "?[^"]+"?$/),
};

export const withPriority: ReadonlySet<string> = new Set(["MX", "SRV", "URI"]);

const ttlRule = "must be a whole number from 60 to 604800";
const priorityRule = "must be a whole number from 0 to 65535";

/** The properties of a record as bodies give them. */
export const recordShape = z
  .object({
    name: z
      .string()
      .max(253)
      .refine((name) => name === "" || name === "@" || isHostName(name), "must be a host name, or empty for the zone")
      .nullish(),
    type: z.enum(recordTypes, { error: `must be one of ${recordTypes.join(", ")}` }),
    content: z.string().min(1, "must not be empty").max(4096, "must have at most 4096 characters"),
    ttl: z.int(ttlRule).min(60, ttlRule).max(604_800, ttlRule).nullish(),
    priority: z.int(priorityRule).min(0, priorityRule).max(65_535, priorityRule).nullish(),
    enabled: z.boolean().nullish(),
  })
  .transform(({ name, type, content, ttl, priority, enabled }, context): Omit<DnsRecord, "zoneId"> => {
    const fault = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const rule = contents[type];
    if (rule !== undefined && !rule.holds(content)) fault("content", `${rule.rule} for the type ${type}`);
    return {
      name: name === "@" ? "" : (name ?? "").toLowerCase(),
      type,
      content,
      ttl: ttl ?? 3600,
      // Ignored for other types.
      priority: withPriority.has(type) ? (priority ?? 0) : null,
      enabled: enabled ?? true,
    };
  });
