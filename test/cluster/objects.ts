import { api } from "./landscape.ts";

export const datacenter = (name: string, spec: object = {}) => ({
  apiVersion: api,
  kind: "Datacenter",
  metadata: { name },
  spec: { location: "de/txl", ...spec },
});

export const server = (name: string, spec: object = {}) => ({
  apiVersion: api,
  kind: "Server",
  metadata: { name },
  spec: {
    datacenterRef: { name: "dc" },
    cores: 2,
    ram: 2048,
    bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
    nics: [{ name: "public", lan: 1 }],
    ...spec,
  },
});
