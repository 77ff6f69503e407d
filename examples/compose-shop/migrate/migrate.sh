set -e
SCHEMA=1
echo "bringing the database to schema $SCHEMA"
[ "$(redis-cli -h db SET schema $SCHEMA)" = OK ]
redis-cli -h db INCR migrations >/dev/null
