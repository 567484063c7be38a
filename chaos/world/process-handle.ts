import type { ChildProcess } from "node:child_process";

/** A process that is killed, stopped and woken on purpose. */
export class ProcessHandle {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = this.alive ? new Promise((resolve) => child.once("exit", () => resolve())) : Promise.resolve();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }
  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }
  /** SIGKILL: the process cannot react. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
  freeze(): void {
    this.child.kill("SIGSTOP");
  }
  thaw(): void {
    this.child.kill("SIGCONT");
  }
  /** Makes the process read its clock's offset again. */
  tick(): void {
    this.child.kill("SIGUSR2");
  }
}
