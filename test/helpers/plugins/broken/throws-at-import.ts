export {};

throw new Error("no such model file");
