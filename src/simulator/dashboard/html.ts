/** Markup that may be sent to a browser: made by `html` alone, which escapes all that it is given as text. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | readonly Html[];

/** A template for markup: what is put into it is text unless it was made by a template too. */
export function html(fixed: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: fixed.map((each, index) => each + markupOf(parts[index] ?? "")).join("") };
}

export const nothing: Html = { markup: "" };

/** Markup of the program's own, taken as it is. */
export const own = (markup: string): Html => ({ markup });

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
