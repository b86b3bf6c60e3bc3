# The container of the reference application. docs/deployment.md says how to run it, docs/decisions/0022-container.md
# why it is made like this, and `node scripts/container-check.ts` builds and tests it.

# The official image of the Node that package.json pins. Give it with its digest where a build must not move with the tag.
ARG BASE=node:26.10.0-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
RUN npm sbom --package-lock-only --sbom-format=cyclonedx > sbom.json

FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY . .
RUN npm run build
COPY --from=packages /app/node_modules production/node_modules
COPY --from=packages /app/sbom.json production/sbom.json
RUN node scripts/container/stage-image.ts --packages production --out image
RUN mkdir data assets

# Of the official image: node and the libraries it loads. No shell, no package manager.
FROM scratch
COPY --from=build /app/image/ /
COPY --from=build --chown=1000:1000 /app/data /data
# For ASSETS_DIR: a volume that is mounted here for the first time takes its owner over.
COPY --from=build --chown=1000:1000 /app/assets /assets
ENV NODE_ENV=production
ENV DATA_DIR=/data
WORKDIR /app
USER 1000:1000
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s --retries=3 CMD ["/usr/local/bin/node", "/app/health-check.mjs"]
# tini forwards signals from the first moment on; PID 1 itself would ignore a SIGTERM until the server listens for it.
ENTRYPOINT ["/usr/local/bin/tini", "--"]
CMD ["/usr/local/bin/node", "--enable-source-maps", "dist/server/main.js"]
