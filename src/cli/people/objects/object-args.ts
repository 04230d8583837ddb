import { kindOf, type ObjectAsked } from "../../../diagnostics/objects.ts";
import { UsageError } from "../../frame/flags.ts";

/** Parses object arguments like kubectl: KIND/NAME…, KIND NAME…, and KIND/NAMESPACE/NAME as Mooring prints them. */
export function objectsIn(args: readonly string[], namespace: string | undefined): ObjectAsked[] {
  const [first, ...names] = args;
  if (first === undefined) return [];
  if (!first.includes("/")) {
    if (names.length === 0) throw new UsageError(`name an object: ${first}/NAME`);
    return names.map((name) => asked(first, name, namespace));
  }
  return args.map((text) => {
    const parts = text.split("/");
    const [kind = "", second = "", third] = parts;
    if (parts.length > 3 || parts.some((part) => part === "")) {
      throw new UsageError(`"${text}" names no object: write KIND/NAME or KIND/NAMESPACE/NAME`);
    }
    return third === undefined ? asked(kind, second, namespace) : asked(kind, third, second);
  });
}

function asked(kind: string, name: string, namespace: string | undefined): ObjectAsked {
  return { kind: knownKind(kind).kind, name, namespace };
}

export function knownKind(text: string) {
  try {
    return kindOf(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
