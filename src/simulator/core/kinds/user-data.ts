import { z } from "zod";

/** What the formats that a first boot understands begin with. */
const beginnings = ["#cloud-config", "#!", "Content-Type:", "MIME-Version:", "#include", "#upstart-job"];

/** First-boot configuration, in base64. */
export const userData = z.base64({ error: "must be base64", abort: true }).refine(
  (given) => {
    const text = Buffer.from(given, "base64").toString();
    return beginnings.some((each) => text.startsWith(each));
  },
  `must begin, once decoded, with one of ${beginnings.join(", ")}`,
);

export const needsCloudInit = "needs an image with cloud-init (cloudInit V1)";
