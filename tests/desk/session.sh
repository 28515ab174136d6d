#!/usr/bin/env bash
# session.sh [--] COMMAND...   Run COMMAND in a desktop session of its own, then end only what was started here.
#
# Knobs (environment), the default first:
#   DESK_TRAY=sni|xembed|xfce|none        StatusNotifier watcher without a window | trayer | xfce4-panel (both kinds)
#   DESK_NOTIFY=log|dunst|xfce|none       log: every notification is recorded in $DESK_NOTIFY_LOG, one JSON a line
#   DESK_KEYRING=unlocked|locked|none|off none: a daemon without any keyring yet; off: no daemon
#   DESK_KEYRING_PW=test                  its password
#   DESK_WM=openbox|none                  window manager
#   DESK_A11Y=1|0                         accessibility bus
#   DESK_BUS=1|0                          D-Bus session bus
#   DESK_SIZE=1280x800x24                 screen
#   DESK_HOME=DIR                         home folder to use and keep; by default a temporary one
#   DESK_KEEP_LOG=DIR                     where to copy the parts' logs at the end
#   DESK_PY=python3                       a Python with jeepney, for sni and log
# COMMAND sees DISPLAY, DBUS_SESSION_BUS_ADDRESS, HOME, XDG_*, DESK_RUN (the session's folder) and DESK_NOTIFY_LOG.
# Exit status: COMMAND's; 97 when the session could not be made.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${DESK_TRAY:=sni}" "${DESK_NOTIFY:=log}" "${DESK_KEYRING:=unlocked}" "${DESK_KEYRING_PW:=test}" "${DESK_WM:=openbox}"
: "${DESK_A11Y:=1}" "${DESK_BUS:=1}" "${DESK_SIZE:=1280x800x24}" "${DESK_PY:=python3}"
[ "${1:-}" = -- ] && shift
[ $# -gt 0 ] || { sed -n '2,18s/^# \?//p' "$0" >&2; exit 2; }

# ---- folders and environment
RUN=$(mktemp -d /tmp/desk.XXXXXX)
export DESK_RUN=$RUN DESK_SESSION_ID="desk-$$-$(date +%s%N)" DESK_NOTIFY_LOG=$RUN/notify.jsonl
export PYENV_ROOT=${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv} # its shims on PATH look there
export HOME=${DESK_HOME:-$RUN/home}
export XDG_RUNTIME_DIR=$RUN/rt XDG_CONFIG_HOME=$HOME/.config XDG_DATA_HOME=$HOME/.local/share \
  XDG_CACHE_HOME=$HOME/.cache XDG_STATE_HOME=$HOME/.local/state XDG_SESSION_TYPE=x11 \
  XDG_CURRENT_DESKTOP=${DESK_DESKTOP:-XFCE}
mkdir -p "$RUN/log" "$RUN/rt" "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$XDG_STATE_HOME"
chmod 700 "$RUN" "$RUN/rt"
unset DBUS_SESSION_BUS_ADDRESS WAYLAND_DISPLAY SESSION_MANAGER XAUTHORITY

# ---- starting and ending the parts
PIDS=()
marked() { # pids with our mark in their environment (what D-Bus started too), without this shell
  local pid
  for pid in /proc/[0-9]*; do
    pid=${pid#/proc/}
    [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
    grep -qsaF "DESK_SESSION_ID=$DESK_SESSION_ID" "/proc/$pid/environ" && echo "$pid"
  done
}
cleanup() {
  trap - EXIT INT TERM HUP
  local i left
  for ((i = ${#PIDS[@]} - 1; i >= 0; i--)); do kill "${PIDS[i]}" 2>/dev/null; done
  for i in 1 2 3 4 5 6 7 8 9 10; do
    left=$(marked)
    [ -z "$left" ] && break
    [ $i = 4 ] && kill $left 2>/dev/null
    [ $i = 9 ] && kill -9 $left 2>/dev/null
    sleep 0.1
  done
  [ -n "${DESK_KEEP_LOG:-}" ] && cp -r "$RUN/log" "$DESK_KEEP_LOG" 2>/dev/null
  rm -rf "$RUN"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
part() { # NAME COMMAND...: one part of the desktop
  local name=$1
  shift
  "$@" >"$RUN/log/$name.log" 2>&1 </dev/null &
  PIDS+=($!)
}
await() { # NAME COMMAND...: until COMMAND succeeds, 15 s at most
  local name=$1 i
  shift
  for ((i = 0; i < 150; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  echo "session.sh: $name did not come up; the logs:" >&2
  tail -n 20 "$RUN/log/"*.log >&2
  exit 97
}
has() { # NAME: whether it is owned on the bus
  dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    "string:$1" 2>/dev/null | grep -q 'boolean true'
}
await_name() { # PART NAME
  [ "$DESK_BUS" = 1 ] && await "$1" has "$2"
}

# ---- X
mkfifo "$RUN/display"
Xvfb -displayfd 3 -screen 0 "$DESK_SIZE" -dpi 96 -nolisten tcp -noreset \
  3>"$RUN/display" >"$RUN/log/xvfb.log" 2>&1 </dev/null &
PIDS+=($!)
read -t 15 -r NUMBER <"$RUN/display" || {
  echo "session.sh: Xvfb did not come up" >&2
  cat "$RUN/log/xvfb.log" >&2
  exit 97
}
export DISPLAY=:$NUMBER

# ---- D-Bus: a private bus that can start only the services named here
if [ "$DESK_BUS" = 1 ]; then
  mkdir "$RUN/services"
  for service in org.a11y.Bus org.xfce.Xfconf ca.desrt.dconf org.gnome.keyring.SystemPrompter \
    org.gnome.keyring.PrivatePrompter; do
    file=/usr/share/dbus-1/services/$service.service
    [ -e "$file" ] && sed '/^SystemdService/d' "$file" >"$RUN/services/$service.service"
  done
  cat >"$RUN/bus.conf" <<CONF
<busconfig>
  <type>session</type><listen>unix:path=$RUN/rt/bus</listen><auth>EXTERNAL</auth><servicedir>$RUN/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
CONF
  part dbus dbus-daemon --config-file="$RUN/bus.conf" --nofork --nopidfile
  export DBUS_SESSION_BUS_ADDRESS=unix:path=$RUN/rt/bus
  await dbus has org.freedesktop.DBus
else
  export DBUS_SESSION_BUS_ADDRESS=unix:path=$RUN/no-such-bus
fi

# ---- accessibility
if [ "$DESK_A11Y" = 1 ] && [ "$DESK_BUS" = 1 ]; then
  export QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 QT_ACCESSIBILITY=1
  part at-spi /usr/libexec/at-spi-bus-launcher --launch-immediately --a11y=1 --screen-reader=0
  await_name at-spi org.a11y.Bus
else
  export NO_AT_BRIDGE=1
fi

# ---- window manager
if [ "$DESK_WM" = openbox ]; then
  part openbox openbox --sm-disable
  await openbox sh -c 'xprop -root _NET_SUPPORTING_WM_CHECK | grep -q "window id"'
fi

# ---- notification daemon
case $DESK_NOTIFY in
  log) part notifications "$DESK_PY" "$HERE/notifications.py" "$DESK_NOTIFY_LOG" ;;
  dunst) part notifications dunst ;;
  xfce) part notifications /usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd ;;
esac
[ "$DESK_NOTIFY" = none ] || await_name notifications org.freedesktop.Notifications

# ---- Secret Service. The password on stdin makes and opens the login keyring; none at all would make a prompt that blocks.
unlocked_keyring() {
  printf '%s' "$DESK_KEYRING_PW" >"$RUN/password"
  gnome-keyring-daemon --foreground --unlock --components=secrets <"$RUN/password" >"$RUN/log/$1.log" 2>&1 &
  KEYRING=$!
  await_name gnome-keyring org.freedesktop.secrets
  rm -f "$RUN/password"
}
case $DESK_KEYRING in
  unlocked)
    unlocked_keyring keyring
    PIDS+=("$KEYRING")
    ;;
  locked)
    unlocked_keyring keyring-first # makes the keyring; the second daemon finds it locked
    kill "$KEYRING"
    wait "$KEYRING" 2>/dev/null
    part keyring gnome-keyring-daemon --foreground --components=secrets
    await_name gnome-keyring org.freedesktop.secrets
    ;;
  none)
    part keyring gnome-keyring-daemon --foreground --components=secrets
    await_name gnome-keyring org.freedesktop.secrets
    ;;
esac

# ---- tray host
case $DESK_TRAY in
  sni)
    part tray "$DESK_PY" "$HERE/status_notifier.py" watch
    await_name tray org.kde.StatusNotifierWatcher
    ;;
  xembed)
    part tray trayer --edge top --align right --widthtype request --heighttype pixel --height 28 --SetDockType true \
      --expand true --transparent false --tint 0x303030 --alpha 0
    await tray sh -c 'xdotool search --class trayer'
    ;;
  xfce)
    folder=$XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml
    mkdir -p "$folder"
    cp "$HERE/xfce4-panel.xml" "$folder/"
    part tray xfce4-panel --disable-wm-check
    await_name tray org.kde.StatusNotifierWatcher
    ;;
esac

"$@" <&0 & # in the background, so that a signal to this script is handled at once
COMMAND=$!
PIDS+=("$COMMAND")
wait "$COMMAND"
exit $?
