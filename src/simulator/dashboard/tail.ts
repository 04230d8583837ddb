import { type Html, html, nothing } from "./html.ts";
import type { Region } from "./region.ts";

/** The fields that senders put a line's text into. */
const textFields = ["message", "msg", "log"];
const longestText = 2_000;

/** The newest log lines, newest first: time, tag, the line's text and the other fields of its record. */
export function tail({ lines, pipelines }: Region): Html {
  const names = new Map(pipelines.map(({ id, name }) => [id, name]));
  return html`<ol class="tail">
${lines.map(({ at, pipelineId, tag, record }) => {
  const field = textFields.find((name) => typeof record[name] === "string");
  const rest = Object.entries(record).filter(([name]) => name !== field);
  return html`<li><time datetime="${new Date(at).toISOString()}">${instantOf(at)}</time> <span class="tag" title="${names.has(pipelineId) ? `pipeline ${names.get(pipelineId)}` : "central logging"}">${tag}</span> ${
    field === undefined ? nothing : html`<span>${cut(String(record[field]))}</span> `
  }${rest.length === 0 ? nothing : html`<span class="fields">${cut(JSON.stringify(Object.fromEntries(rest)))}</span>`}</li>
`;
})}</ol>
`;
}

/** `2026-01-31 12:00:00.123`, in UTC. */
const instantOf = (at: number) => new Date(at).toISOString().slice(0, -1).replace("T", " ");

const cut = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);
