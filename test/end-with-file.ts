import { afterAll } from "vitest";
import { endAll } from "./ending.ts";

// Runs before each test file, also where files share a worker and what they import.
afterAll(endAll);
