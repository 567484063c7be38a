/** A text from outside without control characters: it may hold escape sequences of terminals. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, "?");
