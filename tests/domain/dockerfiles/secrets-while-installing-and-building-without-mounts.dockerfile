# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS manifests
USER 0:0
WORKDIR /app
COPY [".","/app/"]
RUN ["/bin/sh","-c","mkdir /manifests; for path; do [ ! -f \"$path\" ] || cp --parents -- \"$path\" /manifests/ || exit 1; done","sh","list"]

FROM debian:bookworm-slim AS build
USER 0:0
WORKDIR "/app"
COPY --from=manifests ["/manifests/","/app/"]
RUN ["/bin/sh","-c","printf \"%s\" \"$TOKEN\" | wc -c > marks"]
COPY [".","/app/"]
ARG SLIPWAY_ENVIRONMENT="one"
RUN ["/bin/sh","-c","sh -c \"test -n \\\"\\$TOKEN\\\"\" && echo \"$TOKEN\" > /tmp/gone && cat list >> marks"]

FROM debian:bookworm-slim AS run
USER 0:0
WORKDIR "/app"
RUN ["/bin/sh","-c","echo \"slipway:x:10001:10001::/home/slipway:/bin/sh\" >> /etc/passwd && echo \"slipway:x:10001:\" >> /etc/group && mkdir -p /home/slipway && chown -R 10001:10001 /home/slipway /app"]
COPY --from=build --chown=10001:10001 ["/app/marks","/app/marks"]
ENV HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["/bin/sh","-c","trap : TERM INT\ncat marks; echo \"<${TOKEN-}>\"; ls /run/secrets 2>&1 | wc -l"]
