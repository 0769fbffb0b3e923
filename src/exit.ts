import { existsSync } from 'node:fs';

/**
 * The exit code when a restart cannot help: the configuration is wrong (sysexits' EX_CONFIG), or the database has to be
 * restored. The documented systemd unit does not restart the bot then.
 */
export const EX_CONFIG = 78;

/**
 * Ends the process with an exit code at once. `process.exit` waits for every thread, also for one that waits for a disk
 * that hangs. It also closes the database, which would remove the log of a file that replaced it. Replacing the process
 * with another program does neither. The image has no shell: there Node is that program. A signal would not do, because
 * the first process of a container cannot kill itself.
 */
export function exitNow(code: number, shell = '/bin/sh'): never {
  process.emit('exit', code);
  try {
    if (existsSync(shell)) process.execve!(shell, ['sh', '-c', `exit ${code}`], {});
    process.execve!(process.execPath, ['node', '--eval', `process.exit(${code})`], {});
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
  throw new Error('The process did not exit.');
}
