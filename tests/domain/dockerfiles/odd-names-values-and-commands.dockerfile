# Made by Slipway from what it found in the project.
FROM debian:bookworm-slim AS build
USER 0:0
ENV ODD="a 'b' \"c\" \$HOME \${PATH:-x} `id` \\ # <<EOF ü\\"
WORKDIR "/app/it's \$HOME \"q\" \\ ü/sub"
COPY ["[i]t\\'s \\$HOME \\\"q\\\" [\\\\\\\\] ü/a [[]0-9][*][?]{x} <\u003cEOF [\\\\\\\\].json","/app/it\\'s \\$HOME \\\"q\\\" \\\\ ü/"]
COPY ["[a] [[]0-9][*][?]{x} <\u003cEOF [\\\\\\\\].json","-[d]ash","/app/"]
RUN ["/bin/sh","-c","# a comment\ncat ../*.json \"../../-dash\" ../../*.json > /app/installed"]
COPY [".","/app/"]
ARG SLIPWAY_ENVIRONMENT="one"
RUN ["/bin/sh","-c","cat > ../../built <\u003c'EOF'\nUSER root \\\nRUN [\"/bin/sh\"]\n\"]\nEOF\nprintf '%s\\n' \"$ODD\" >> ../../built \\\n"]

FROM debian:bookworm-slim AS run
USER 0:0
ENV ODD="a 'b' \"c\" \$HOME \${PATH:-x} `id` \\ # <<EOF ü\\"
WORKDIR "/app/it's \$HOME \"q\" \\ ü/sub"
RUN ["/bin/sh","-c","echo \"slipway:x:10001:10001::/home/slipway:/bin/sh\" >> /etc/passwd && echo \"slipway:x:10001:\" >> /etc/group && mkdir -p /home/slipway && chown -R 10001:10001 /home/slipway /app"]
COPY --from=build --chown=10001:10001 ["/app/installed","/app/installed"]
COPY --from=build --chown=10001:10001 ["/app/built","/app/built"]
COPY --from=build --chown=10001:10001 ["/app/it\\'s \\$HOME \\\"q\\\" [\\\\\\\\] ü/sub","/app/it\\'s \\$HOME \\\"q\\\" \\\\ ü/sub"]
ENV HOME="/home/slipway" PORT="3000" TINI_KILL_PROCESS_GROUP="1"
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["/bin/sh","-c","trap : TERM INT\npwd\ncat ../../installed ../../built 'file'\n\tprintf '%s' \"$ODD\" # \\"]
