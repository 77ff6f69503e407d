# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS build
USER 0:0
WORKDIR "/app/apps/web"
COPY ["[l]ist","/app/"]
COPY ["[a]pps/web/list","/app/apps/web/"]
COPY ["[a]pps/api/list","/app/apps/api/"]
COPY ["[d]ocs/list","[d]ocs/more","/app/docs/"]
RUN ["/bin/sh","-c","cat ../*/list ../../list > installed"]
COPY [".","/app/"]

FROM debian:bookworm-slim AS run
USER 0:0
WORKDIR "/app/apps/web"
RUN ["/bin/sh","-c","echo \"slipway:x:10001:10001::/home/slipway:/bin/sh\" >> /etc/passwd && echo \"slipway:x:10001:\" >> /etc/group && mkdir -p /home/slipway && chown -R 10001:10001 /home/slipway /app"]
COPY --from=build --chown=10001:10001 ["/app/","/app/"]
ENV HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["/bin/sh","-c","trap : TERM INT\necho \"$(id -u):$(id -g) $HOME $PORT $(pwd)\"; cat installed; touch x"]
