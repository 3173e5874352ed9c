#!/bin/sh
# A sweep on two hosts, each with two ranks, between which the network breaks: two network namespaces of this machine with
# a cable between them (veth), which is pulled once 20 cells have ended. tests/cli/sweep_mpi.c runs it, in a folder with
# heddle-mpi, heddle and plan.yaml, which rank 0 sends to each host:
#     unshare -rnupf --mount-proc --kill-child sh two_hosts.sh [SECONDS]
# SECONDS: after so long the cable is plugged in again. The job's output is in `log`. mpirun cannot end the processes of a
# host that it cannot reach: the end of this script, the first process of its namespace, ends all others.
set -eu
unshare -nu sh -c 'hostname far; exec sleep 1000' &
far=$!
until [ "$(nsenter -t $far -u hostname)" = far ]; do sleep 0.05; done
hostname near
ip link add near type veth peer name far netns $far
ip address add 10.77.0.1/24 dev near
ip link set near up
ip link set lo up
nsenter -t $far -n sh -c 'ip address add 10.77.0.2/24 dev far; ip link set far up; ip link set lo up'
printf '#!/bin/sh\nshift\nexport TMPDIR="%s/far"\nexec nsenter -t %d -n -u sh -c "$*"\n' "$PWD" $far >agent # what Open MPI takes for ssh
chmod +x agent
mkdir near far # where each keeps what it is sent
TMPDIR=$PWD/near mpirun --allow-run-as-root --oversubscribe --enable-recovery --mca plm_rsh_agent ./agent -H 10.77.0.1:2,10.77.0.2:2 -n 4 \
    --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    ./heddle-mpi --ship --lost-after 1 sweep plan.yaml >log 2>&1 &
job=$!
until [ "$(cat p.sweep/journal.ndjson 2>/dev/null | wc -l)" -ge 20 ]; do
    kill -0 $job
    sleep 0.05
done
ip link set near down
if [ $# = 1 ]; then
    sleep "$1"
    ip link set near up
fi
until grep -q ' took ' log && [ -e p.sweep/results.sqlite ]; do sleep 0.05; done
