/** Keeps the page fresh: takes the data of the next page over, unless nobody looks or somebody is marking text. */
export const script = `
const note = document.getElementById("note");
async function refresh() {
  if (document.hidden || !getSelection().isCollapsed) return;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(4000) });
    if (!answer.ok) throw new Error(answer.status);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(next.querySelector("main"));
    note.textContent = "";
  } catch {
    note.textContent = "The simulator does not answer; this is what it said last.";
  }
}
setInterval(refresh, 5000);
document.querySelector("form").addEventListener("change", (event) => event.currentTarget.requestSubmit());
`;
