# The bot:      docker build --target bot -t ledgerbell .
# The services: docker build --target services -t ledgerbell-services .
# Both run as an unprivileged user, on a root file system that may be read-only; what they keep is in the volume /app/data.

FROM node:24.21.0-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY services/package.json ./services/
# What the services need is in a package of its own, which is only for development: the bot runs without it.
RUN npm pkg set dependencies.ledgerbell-services=file:services && npm pkg delete devDependencies.ledgerbell-services
# Without the packages' scripts. What is only for compilers or for other systems is taken out again: the Node that npm
# installs, sources, types, other systems' builds.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
RUN rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/typescript node_modules/@typescript \
  node_modules/ox/src node_modules/better-sqlite3/deps
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.md' \) -delete
RUN find node_modules/better-sqlite3/prebuilds -mindepth 1 -maxdepth 1 ! -name 'linux-*' -exec rm -r {} +
RUN mkdir data

# Only what the bot imports.
FROM modules AS bot-modules
RUN rm -rf node_modules/undici node_modules/viem node_modules/isows node_modules/ledgerbell-services

FROM gcr.io/distroless/cc-debian12:nonroot AS runtime
COPY --from=modules /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
ENV NODE_ENV=production
USER nonroot
VOLUME /app/data

FROM runtime AS services
COPY --from=modules --chown=nonroot:nonroot /app/data ./data
COPY package.json ./
COPY --from=modules /app/node_modules ./node_modules
COPY src/domain ./src/domain
COPY src/errors.ts ./src/errors.ts
COPY services ./services
ENV HOST=0.0.0.0 PORT=8090
EXPOSE 8090
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8090/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "services/main.ts"]

FROM runtime AS bot
COPY --from=modules --chown=nonroot:nonroot /app/data ./data
COPY package.json ./
COPY --from=bot-modules /app/node_modules ./node_modules
COPY commands ./commands
COPY src ./src
ENV HOST=0.0.0.0 PORT=8080 OPS_HOST=0.0.0.0 OPS_PORT=9464 NODE_COMPILE_CACHE=/app/data/cache
EXPOSE 8080 9464
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "src/main.ts"]
