# Two stages: the first builds the executable file, the second contains only that file.
FROM node:22-bookworm-slim AS build
WORKDIR /build
# The library that the build embeds for fast signatures.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libsecp256k1-1 \
 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY . .
RUN npm run build

FROM debian:bookworm-slim
# The same library again, because the embedded copy cannot be unpacked on a read-only root file system.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libsecp256k1-1 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 cuponera \
 && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin cuponera \
 && install -d -o cuponera -g cuponera -m 0700 /data
COPY --from=build /build/dist/cuponera /usr/local/bin/cuponera
# User and group as numbers, so that an orchestrator can see that it is not root.
USER 10001:10001
# Devices of a shop sign in only with PUBLIC_URL (such as http://192.168.1.10:3000), or with the network of the host.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
VOLUME /data
EXPOSE 3000 3443
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["/usr/local/bin/cuponera", "health"]
ENTRYPOINT ["/usr/local/bin/cuponera"]
CMD ["serve"]
