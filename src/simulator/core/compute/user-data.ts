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

export const imagePassword = z
  .string()
  .regex(/^[A-Za-z0-9]{8,}$/, "must have at least 8 characters of A-Z, a-z and 0-9");
