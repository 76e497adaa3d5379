#!/bin/bash
# One command on the ranks of a Slurm job, for as many jobs as it takes:
#   sbatch -n 32 -t 60 job.sh tssolve matrix.h5 -k 20 -o pairs.h5 --checkpoint state.h5
# Two minutes before the limit the ranks end after their step, with a checkpoint; the job queues again and goes on.
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
srun --mpi=pmix "$@"
status=$?
# The exit status of a run that SIGUSR1 has stopped. Where not even reading fits into the limit, this has an end.
if [ $status -eq 138 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 50 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
