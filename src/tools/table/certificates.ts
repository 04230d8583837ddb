import { list, type Row, reading, resource } from "./row.ts";

const row = (name: string, path: string, description: string) =>
  reading({
    name,
    group: "cert",
    api: "certificates",
    path,
    description,
    result: name.startsWith("list_") ? list : resource,
  });

export const certificates: readonly Row[] = [
  row(
    "list_cert_certificates",
    "/certificates",
    "Certificates with names and expiry (metadata.notAfter). For all that expires soon, Mooring's own keys included: list_expiring.",
  ),
  row(
    "get_cert_certificate",
    "/certificates/{certificate_id}",
    "One certificate with its chain. The private key is never shown.",
  ),
  row(
    "list_cert_auto_certificates",
    "/auto-certificates",
    "Certificates that the platform issues and renews automatically.",
  ),
  row(
    "get_cert_auto_certificate",
    "/auto-certificates/{auto_certificate_id}",
    "One of them, with the certificate that was issued last (metadata.lastIssuedCertificate).",
  ),
  row("list_cert_providers", "/providers", "ACME providers that issue certificates."),
  row("get_cert_provider", "/providers/{provider_id}", "One ACME provider. Its key secret is never shown."),
];
