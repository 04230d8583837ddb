import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Item {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Item[];
}

const root = dirname(import.meta.dirname);

/** The links in the first column of a page's table. */
function linksIn(page: string): Item[] {
  const folder = page.slice(0, page.lastIndexOf("/"));
  const rows = readFileSync(join(root, page), "utf8").matchAll(/^\| \[([^\]]+)\]\(([^)#]+)\.md\)/gm);
  return [...rows].map(([, text = "", name = ""]) => ({ text, link: `/${folder}/${name}` }));
}

const page = (text: string, path: string): Item => ({ text, link: `/docs/${path}` });

/** Every page of docs/, in the order in which people need them. */
export const sidebar: Item[] = [
  {
    text: "Start",
    items: [
      { text: "Mooring", link: "/" },
      page("Comparison", "comparison"),
      { text: "Helm chart", link: "/deploy/chart/README" },
      page("FAQ", "faq"),
      page("Troubleshooting", "troubleshooting"),
    ],
  },
  {
    text: "Guides",
    items: [
      page("Accounts", "guides/accounts"),
      page("Privileges", "guides/privileges"),
      page("A hundred tenants", "guides/tenants"),
      page("Life cycle", "guides/life-cycle"),
      page("Import", "guides/import"),
      page("GitOps", "guides/gitops"),
      page("Compute", "guides/compute"),
      page("Flow logs", "guides/flow-logs"),
      page("Push metrics", "guides/metrics"),
      page("Logs", "guides/logs"),
      page("Kafka", "guides/kafka"),
      page("Tokens", "guides/tokens"),
      page("Inference", "guides/inference"),
      page("Audit", "guides/audit"),
      page("AI clients", "guides/agents"),
    ],
  },
  {
    text: "Operations",
    items: [
      page("Operations", "operations"),
      page("Endpoints", "endpoints"),
      page("Security", "security"),
      page("Metrics of the operator", "metrics"),
      page("Backup and restore", "backup"),
      page("Performance", "performance"),
      page("Image", "image"),
      page("Uninstall", "uninstall"),
    ],
  },
  {
    text: "Tools",
    items: [
      page("Commands", "cli"),
      page("Plan", "plan"),
      page("Tool server", "tools"),
      page("Simulator", "simulator"),
    ],
  },
  {
    text: "Reference",
    collapsed: true,
    items: [
      page("Overview", "reference/README"),
      page("Reasons", "reference/reasons"),
      ...linksIn("docs/reference/README.md"),
    ],
  },
  {
    text: "Design",
    collapsed: true,
    items: [page("Architecture", "architecture"), ...linksIn("docs/design/README.md")],
  },
  {
    text: "Project",
    collapsed: true,
    items: [
      page("Contributing", "contributing"),
      page("Testing", "testing"),
      page("Style", "style"),
      page("Dependencies", "dependencies"),
      page("Release", "release"),
      { text: "Changelog", link: "/CHANGELOG" },
      { text: "Roadmap", link: "/ROADMAP" },
      { text: "Versioning", link: "/VERSIONING" },
      { text: "Reporting vulnerabilities", link: "/SECURITY" },
    ],
  },
];
