/** The section of a version in the changelog; else the unreleased section. */
export function releaseNotes(changelog: string, version: string): { heading: string; text: string } {
  const sections = changelog.split(/^## /m).slice(1);
  const named = sections.map((section) => {
    const [heading = "", ...lines] = section.split("\n");
    return { heading: heading.trim(), text: lines.join("\n").trim() };
  });
  const isVersion = (heading: string) => heading.replace(/^\[?v?/, "").split(/[\s\]]/)[0] === version;
  const found =
    named.find(({ heading }) => isVersion(heading)) ?? named.find(({ heading }) => heading === "Unreleased");
  if (!found || found.text === "") throw new Error(`CHANGELOG.md has no section for ${version}: write "## ${version}"`);
  return found;
}
