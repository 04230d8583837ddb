import { type Xml, xmlDocument } from "../s3/xml/xml.ts";
import type { S3Client } from "../storage/client.ts";

const bucket = "shop-assets";

const settings: readonly (readonly [string, Xml])[] = [
  ["versioning", ["VersioningConfiguration", [["Status", "Enabled"]]]],
  [
    "cors",
    [
      "CORSConfiguration",
      [
        [
          "CORSRule",
          [
            ["AllowedMethod", "GET"],
            ["AllowedOrigin", "https://shop.example"],
          ],
        ],
      ],
    ],
  ],
  [
    "encryption",
    [
      "ServerSideEncryptionConfiguration",
      [["Rule", [["ApplyServerSideEncryptionByDefault", [["SSEAlgorithm", "AES256"]]]]]],
    ],
  ],
  [
    "lifecycle",
    [
      "LifecycleConfiguration",
      [
        [
          "Rule",
          [
            ["ID", "old logs"],
            ["Filter", [["Prefix", "logs/"]]],
            ["Status", "Enabled"],
            ["Expiration", [["Days", 30]]],
          ],
        ],
      ],
    ],
  ],
  [
    "object-lock",
    [
      "ObjectLockConfiguration",
      [
        ["ObjectLockEnabled", "Enabled"],
        [
          "Rule",
          [
            [
              "DefaultRetention",
              [
                ["Mode", "GOVERNANCE"],
                ["Days", 1],
              ],
            ],
          ],
        ],
      ],
    ],
  ],
  [
    "publicAccessBlock",
    [
      "PublicAccessBlockConfiguration",
      [
        ["BlockPublicAcls", true],
        ["IgnorePublicAcls", true],
        ["BlockPublicPolicy", true],
        ["RestrictPublicBuckets", true],
      ],
    ],
  ],
  [
    "replication",
    [
      "ReplicationConfiguration",
      [
        ["Role", "arn:aws:iam:::role/replication"],
        [
          "Rule",
          [
            ["ID", "copies"],
            ["Prefix", ""],
            ["Status", "Enabled"],
            ["Destination", [["Bucket", "arn:aws:s3:::shop-copies"]]],
          ],
        ],
      ],
    ],
  ],
  [
    "tagging",
    [
      "Tagging",
      [
        [
          "TagSet",
          [
            [
              "Tag",
              [
                ["Key", "team"],
                ["Value", "shop"],
              ],
            ],
          ],
        ],
      ],
    ],
  ],
];

const policy = {
  Version: "2012-10-17",
  Statement: [
    {
      Sid: "backup",
      Effect: "Allow",
      Principal: { AWS: ["arn:aws:iam:::user/backup"] },
      Action: ["s3:GetObject"],
      Resource: [`arn:aws:s3:::${bucket}/*`],
    },
  ],
};

const tagging: Xml = settings.find(([name]) => name === "tagging")?.[1] ?? ["Tagging", []];

/** A bucket with every setting, and an object with two versions, tags and a legal hold. */
export async function makeBucket({ call, createBucket }: S3Client): Promise<void> {
  await createBucket(bucket);
  for (const [name, document] of settings) await call("PUT", `/${bucket}?${name}`, xmlDocument(document));
  await call("PUT", `/${bucket}?policy`, JSON.stringify(policy));
  for (const text of ["<h1>Shop</h1>", "<h1>The shop</h1>"]) await call("PUT", `/${bucket}/index.html`, text);
  await call("PUT", `/${bucket}/index.html?tagging`, xmlDocument(tagging));
  await call("PUT", `/${bucket}/index.html?legal-hold`, xmlDocument(["LegalHold", [["Status", "ON"]]]));
  await call("PUT", `/${bucket}/logs/today.log`, "GET / 200\n");
}
