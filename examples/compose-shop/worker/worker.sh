# Ships what was ordered, one after the other, until it is asked to stop.
trap 'exit 0' TERM
echo "worker one waits for orders"
while :; do
  order=$(redis-cli -h db LPOP queue) || order=
  if [ -n "$order" ]; then
    redis-cli -h db INCR shipped >/dev/null && echo "shipped"
  else
    sleep 0.5 & wait $!
  fi
done
