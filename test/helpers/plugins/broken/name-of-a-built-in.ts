import { defineReweighter, z } from "dataflex-mq";

export const mine = defineReweighter({
  name: "softmax",
  accepts: "row",
  params: z.strictObject({}),
  act: (scores) => scores,
});
