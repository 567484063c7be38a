export const scorer = "not a component";
