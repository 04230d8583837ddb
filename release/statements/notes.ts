export interface Notes {
  heading: string;
  text: string;
  /** There are entries under "Unreleased" that these notes do not have. */
  leftOut: boolean;
}

/** The section of a version in the changelog; else the unreleased section. */
export function releaseNotes(changelog: string, version: string): Notes {
  const sections = changelog.split(/^## /m).slice(1);
  const named = sections.map((section) => {
    const [heading = "", ...lines] = section.split("\n");
    return { heading: heading.trim(), text: lines.join("\n").trim() };
  });
  const isVersion = (heading: string) => heading.replace(/^\[?v?/, "").split(/[\s\]]/)[0] === version;
  const unreleased = named.find(({ heading }) => heading === "Unreleased");
  const found = named.find(({ heading }) => isVersion(heading)) ?? unreleased;
  if (!found || found.text === "") throw new Error(`CHANGELOG.md has no section for ${version}: write "## ${version}"`);
  return { ...found, leftOut: found !== unreleased && Boolean(unreleased?.text) };
}
