# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS build
USER 0:0
RUN ["/bin/sh","-c","apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bc && rm -rf /var/lib/apt/lists/*"]
RUN ["/bin/sh","-c","echo build > /usr/local/tool"]
RUN ["/bin/sh","-c","echo both >> /usr/local/tools"]
WORKDIR "/app"
COPY [".","/app/"]
ARG SLIPWAY_ENVIRONMENT="one"
RUN ["/bin/sh","-c","echo 20+22 | bc > sum"]

FROM debian:bookworm-slim AS run
USER 0:0
RUN ["/bin/sh","-c","apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*"]
RUN ["/bin/sh","-c","echo both >> /usr/local/tools"]
WORKDIR "/app"
RUN ["/bin/sh","-c","echo \"slipway:x:10001:10001::/home/slipway:/bin/sh\" >> /etc/passwd && echo \"slipway:x:10001:\" >> /etc/group && mkdir -p /home/slipway && chown -R 10001:10001 /home/slipway /app"]
COPY --from=build --chown=10001:10001 ["/app/sum","/app/sum"]
COPY --from=build --chown=10001:10001 ["/usr/local/tool","/usr/local/tool"]
ENV HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["/bin/sh","-c","trap : TERM INT\ncat sum /usr/local/tool*; which tini; which bc || true"]
