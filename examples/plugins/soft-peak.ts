import { defineScorer, z } from "dataflex-mq";

/**
 * A smooth maximum of a response's token entropies, by tensor operations: log(mean(exp(k · H))) / k, `(rows, L)` → `(rows,)`. The
 * worker's backend runs it; what it makes is disposed when it returns.
 */
export const softPeak = defineScorer({
  name: "soft_peak",
  requires: ["entropy", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "independent",
  params: z.strictObject({ sharpness: z.number().positive().max(20).default(4) }),
  doc: {
    summary: "A smooth maximum of the token entropies of a response.",
    formula: "s_i = log(mean over live t of exp(sharpness H[i,t])) / sharpness",
    edges: ["a fully masked row scores 0", "float32: six digits"],
    params: { sharpness: "in (0, 20]; towards 0 the mean, the larger the nearer to the maximum" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  score(batch, { params: { sharpness } }) {
    const { tf } = batch;
    const mask = batch.tensor("response_mask");
    // Relative to each row's largest entropy, so that exp cannot overflow. Outside the mask the tensor holds 0, hence the product.
    const entropy = batch.tensor("entropy");
    const peak = tf.max(entropy, 1, true);
    const grown = tf.mul(tf.exp(tf.mul(tf.sub(entropy, peak), sharpness)), mask);
    const mean = tf.div(tf.sum(grown, 1), tf.maximum(tf.sum(mask, 1), 1));
    return tf.add(tf.squeeze(peak, [1]), tf.div(tf.log(mean), sharpness));
  },
});
