/** The services, for programs that run them in a process of their own or in their own process. */
export { Broker, type BrokerOptions } from "./broker/broker.js";
export { runBroker, runWorker } from "./commands/services/run-service.js";
export {
  type ServiceProcess,
  type Services,
  type ServicesOptions,
  spawnService,
  startServices,
} from "./commands/services/spawn.js";
export { type PrivateRedis, startPrivateRedis } from "./redis/private-server.js";
export { Worker } from "./worker/worker.js";
export type { WorkerOptions } from "./worker/worker-options.js";
