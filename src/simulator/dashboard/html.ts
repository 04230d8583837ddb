/** Markup for a browser. Only `html` and `trusted` create it; `html` escapes every text. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | readonly Html[];

/** A template for markup. Texts and numbers in it are escaped, other markup is not. */
export function html(fixed: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: fixed.map((each, index) => each + markupOf(parts[index] ?? "")).join("") };
}

export const nothing: Html = { markup: "" };

/** Markup that is not escaped. Only for constants of this program. */
export const trusted = (markup: string): Html => ({ markup });

function markupOf(part: Part): string {
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
