# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS manifests
USER 0:0
WORKDIR /app
COPY [".","/app/"]
RUN ["/bin/sh","-c","mkdir /manifests; for path; do [ ! -f \"$path\" ] || cp --parents -- \"$path\" /manifests/ || exit 1; done","sh","list","gone/list","packages/p00/list","packages/p01/list","packages/p02/list","packages/p03/list","packages/p04/list","packages/p05/list","packages/p06/list","packages/p07/list","packages/p08/list","packages/p09/list","packages/p10/list","packages/p11/list","packages/p12/list","packages/p13/list","packages/p14/list","packages/p15/list","packages/p16/list","packages/p17/list","packages/p18/list","packages/p19/list","packages/p20/list","packages/p21/list","packages/p22/list","packages/p23/list","packages/p24/list","packages/p25/list","packages/p26/list","packages/p27/list","packages/p28/list","packages/p29/list","packages/p30/list","packages/p31/list","packages/p32/list","packages/p33/list","packages/p34/list","packages/p35/list","packages/p36/list","packages/p37/list","packages/p38/list","packages/p39/list"]

FROM debian:bookworm-slim AS build
USER 0:0
WORKDIR "/app"
COPY --from=manifests ["/manifests/","/app/"]
RUN ["/bin/sh","-c","cat packages/*/list > installed && ls >> installed"]
COPY [".","/app/"]

FROM debian:bookworm-slim AS run
USER 0:0
WORKDIR "/app"
RUN ["/bin/sh","-c","echo \"slipway:x:10001:10001::/home/slipway:/bin/sh\" >> /etc/passwd && echo \"slipway:x:10001:\" >> /etc/group && mkdir -p /home/slipway && chown -R 10001:10001 /home/slipway /app"]
COPY --from=build --chown=10001:10001 ["/app/","/app/"]
ENV HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["/bin/sh","-c","exec cat installed"]
