import { defineConfig } from "vitepress";
import { sidebar } from "../sidebar.ts";

const { SITE_BASE = "/", SITE_VERSION = "", SITE_VERSIONS = SITE_VERSION } = process.env;

export default defineConfig({
  title: "Mooring",
  description: "A Kubernetes operator for IONOS Cloud",
  srcDir: "../dist/site-source",
  outDir: `../dist/site/${SITE_VERSION}`,
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  cacheDir: "../.cache/site",
  base: `${SITE_BASE}${SITE_VERSION}/`,
  markdown: { html: false },
  rewrites: { "README.md": "index.md" },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Guides", link: "/docs/guides/accounts" },
      { text: "Reference", link: "/docs/reference/README" },
      {
        text: SITE_VERSION,
        items: [
          // A version does not know the ones after it.
          { text: "newest", link: "/../", target: "_self" },
          ...SITE_VERSIONS.split(" ").map((version) => ({ text: version, link: `/../${version}/`, target: "_self" })),
        ],
      },
    ],
  },
});
