"""Calls every method of the platform's public clients once, and prints which there are and which were called as JSON.

The clients check each answer with their own types: one that does not fit raises an error.
"""

import json
import sys

import ionoscloud_cert_manager as cert
import ionoscloud_dns as dns
import ionoscloud_object_storage_management as storage

given = json.load(sys.stdin)
called = set()


class Recorder:
    """An API of a client that remembers which of its methods were called."""

    def __init__(self, api):
        self.api = api

    def __getattr__(self, name):
        called.add(f"{type(self.api).__name__}.{name}")
        return getattr(self.api, name)


def apis(module, url, *names):
    client = module.ApiClient(module.Configuration(host=url, token=given["token"]))
    return [Recorder(getattr(module, name)(client)) for name in names]


def methods(module):
    for name in (each for each in dir(module) if each.endswith("Api")):
        for method in dir(getattr(module, name)):
            if not method.startswith("_") and not method.endswith(("_http_info", "_preload_content")) and "_" in method:
                yield f"{name}.{method}"


def first(items):
    return str(items.items[0].id)


zones, records, files, keys, quota, secondary, reverse = apis(
    dns,
    given["endpoints"]["dns"],
    *["ZonesApi", "RecordsApi", "ZoneFilesApi", "DNSSECApi", "QuotaApi", "SecondaryZonesApi", "ReverseRecordsApi"],
)
zones.zones_find_by_id(first(zones.zones_get()))
zone = str(zones.zones_post(dns.ZoneCreate(properties=dns.Zone(zone_name="new.example", enabled=True))).id)
zones.zones_put(zone, dns.ZoneEnsure(properties=dns.Zone(zone_name="new.example", enabled=False)))
record = dns.Record(name="www", type="A", content="192.0.2.1", ttl=60)
made = str(records.zones_records_post(zone, dns.RecordCreate(properties=record)).id)
records.zones_records_put(zone, made, dns.RecordEnsure(properties=record))
records.zones_records_find_by_id(zone, made)
records.zones_records_get(zone)
records.records_get()
records.zones_records_delete(zone, made)
files.zones_zonefile_get(zone)
imported = files.zones_zonefile_put(zone, "$TTL 300\nwww IN A 192.0.2.2\nmail IN MX 10 mx\n")
bits = dns.KeyParameters(algorithm="RSASHA256", ksk_bits=2048, zsk_bits=2048)
nsec = dns.NsecParameters(nsec_mode="NSEC3", nsec3_iterations=10, nsec3_salt_bits=64)
wish = dns.DnssecKeyParameters(key_parameters=bits, nsec_parameters=nsec, validity=90)
keys.zones_keys_post(zone, dns.DnssecKeyCreate(properties=wish))
keys.zones_keys_get(zone)
keys.zones_keys_delete(zone)
zones.zones_delete(zone)
quota.quota_get()
copy = first(secondary.secondaryzones_get())
secondary.secondaryzones_find_by_id(copy)
records.secondaryzones_records_get(copy)
secondary.secondaryzones_axfr_get(copy)
secondary.secondaryzones_axfr_put(copy)
source = dns.SecondaryZone(zone_name="copy.example", primary_ips=["192.0.2.53"])
copy = str(secondary.secondaryzones_post(dns.SecondaryZoneCreate(properties=source)).id)
secondary.secondaryzones_put(copy, dns.SecondaryZoneEnsure(properties=source))
secondary.secondaryzones_delete(copy)
name = reverse.reverserecords_find_by_id(first(reverse.reverserecords_get()))
reverse.reverserecords_put(str(name.id), dns.ReverseRecordEnsure(properties=name.properties))
reverse.reverserecords_delete(str(name.id))
reverse.reverserecords_post(dns.ReverseRecordCreate(properties=name.properties))

certificates, autos, providers = apis(
    cert, given["endpoints"]["certificates"], "CertificateApi", "AutoCertificateApi", "ProviderApi"
)
renamed = cert.PatchName(name="renamed")
provider = providers.providers_find_by_id(first(providers.providers_get()))
binding = cert.ProviderExternalAccountBinding(key_id="account", key_secret=given["canary"])
account = cert.Provider(name="n", email="a@b.example", server="https://acme.example/d", external_account_binding=binding)
own = str(providers.providers_post(cert.ProviderCreate(properties=account)).id)
providers.providers_patch(own, cert.ProviderPatch(properties=renamed))
autos.auto_certificates_find_by_id(first(autos.auto_certificates_get()))
names = cert.AutoCertificate(
    provider=own,
    common_name="a.example",
    key_algorithm="rsa2048",
    name="a",
    subject_alternative_names=["b.example"],
)
auto = str(autos.auto_certificates_post(cert.AutoCertificateCreate(properties=names)).id)
autos.auto_certificates_patch(auto, cert.AutoCertificatePatch(properties=renamed))
autos.auto_certificates_delete(auto)
upload = cert.Certificate(
    name="own",
    certificate=given["certificate"],
    certificate_chain=given["certificateChain"],
    private_key=given["privateKey"],
)
uploaded = str(certificates.certificates_post(cert.CertificateCreate(properties=upload)).id)
certificates.certificates_find_by_id(uploaded)
certificates.certificates_patch(uploaded, cert.CertificatePatch(properties=renamed))
certificates.certificates_get()
certificates.certificates_delete(uploaded)
unused = cert.Provider(name="unused", email="a@b.example", server="https://acme.example/d")
providers.providers_delete(str(providers.providers_post(cert.ProviderCreate(properties=unused)).id))

access, regions = apis(storage, given["endpoints"]["objectStorageManagement"], "AccesskeysApi", "RegionsApi")
access.accesskeys_find_by_id(first(access.accesskeys_get()))
wanted = storage.AccessKey(description="from Python")
key = access.accesskeys_post(storage.AccessKeyCreate(properties=wanted))
access.accesskeys_put(str(key.id), storage.AccessKeyEnsure(id=str(key.id), properties=wanted))
renewed = access.accesskeys_renew(str(key.id))
access.accesskeys_delete(str(key.id))
regions.regions_find_by_region(regions.regions_get().items[0].id)

every = sorted({method for module in (dns, cert, storage) for method in methods(module)})
print(
    json.dumps(
        {
            "called": sorted(called),
            "every": every,
            "imported": [[each.properties.name, str(each.properties.content)] for each in imported.items],
            "newSecret": renewed.properties.secret_key != key.properties.secret_key,
        }
    )
)
