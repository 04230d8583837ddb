# Mooring: Node, the libraries that Node itself is linked to, and JavaScript. No shell, no package manager.
# BASE is a Debian with Node 24 and npm, pinned by its digest: --build-arg BASE=node@sha256:…
# `make image` builds this file without a container engine, and without a registry when BASE is not given.
ARG BASE
FROM ${BASE} AS build
# For a build behind a registry or an authority of its own.
ARG NODE_EXTRA_CA_CERTS
ARG NPM_CONFIG_REGISTRY
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY src/ src/
COPY image/ image/
RUN node image/bundle.ts /root-of-image/app/dist
COPY package.json LICENSE /root-of-image/app/
RUN image/root /root-of-image

FROM scratch
COPY --from=build /root-of-image/ /
LABEL org.opencontainers.image.title="mooring" \
      org.opencontainers.image.description="Kubernetes operator for IONOS Cloud that keeps a contract in the state its objects describe" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532
WORKDIR /app
# Chosen by measurement: docs/image.md.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["/usr/local/bin/node", "--max-old-space-size-percentage=50", "--max-semi-space-size=4", "--heap-growing-percent=50", "/app/dist/main.js"]
CMD ["operator"]
