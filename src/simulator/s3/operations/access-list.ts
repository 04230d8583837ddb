import { type BucketCall, ownerOf, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { textIn } from "../request/body.ts";
import type { Xml } from "../xml/xml.ts";

const instance = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"';

/** The access lists of buckets and objects: the owner has all rights, and a list cannot give rights to others. */
export function accessOperations(nameOf: (userId: string) => string) {
  return {
    read({ bucket: { contractNumber, userId } }: BucketCall): S3Reply {
      const owner = ownerOf({ contractNumber, name: nameOf(userId) });
      const grant: Xml = [
        "Grant",
        [
          ["Grantee", owner[1], instance],
          ["Permission", "FULL_CONTROL"],
        ],
      ];
      return { status: 200, xml: ["AccessControlPolicy", [owner, ["AccessControlList", [grant]]]] };
    },

    async write({ request, signed, header }: BucketCall): Promise<S3Reply> {
      await textIn(request, signed);
      if (["private", "bucket-owner-full-control"].includes(header("x-amz-acl") ?? "")) return { status: 200 };
      throw fault("AccessControlListNotSupported", "The bucket has no access lists: use a bucket policy");
    },
  };
}
