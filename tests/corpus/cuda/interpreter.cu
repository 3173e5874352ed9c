// Switch-heavy bytecode interpreter: dense and sparse switches as compare trees and, in one variant, as brx.idx jump tables.
// VARIANT: tables -Xcicc -jump-table-density=1
enum { PUSH, ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, SHL, SHR, NEG, NOT, DUP, SWAP, DROP, JMP, JZ, JNZ, LOAD, STORE, LT, EQ, HALT, ROT, OVER, MIN, MAX };

extern "C" __global__ void run(const int *code, int *memory, int *result, int fuel)
{
    int stack[32], sp = 0, pc = 0;
    int *mem = memory + threadIdx.x * 64;
    while (fuel-- > 0) {
        int op = code[pc++];
        int a = sp > 0 ? stack[(sp - 1) & 31] : 0, b = sp > 1 ? stack[(sp - 2) & 31] : 0;
#define BINARY(e) sp--; stack[(sp - 1) & 31] = (e); break
        switch (op) {
        case PUSH: stack[sp++ & 31] = code[pc++]; break;
        case ADD: BINARY(b + a);
        case SUB: BINARY(b - a);
        case MUL: BINARY(b * a);
        case DIV: BINARY(a ? b / a : 0);
        case MOD: BINARY(a ? b % a : 0);
        case AND: BINARY(b & a);
        case OR: BINARY(b | a);
        case XOR: BINARY(b ^ a);
        case SHL: BINARY(b << (a & 31));
        case SHR: BINARY(b >> (a & 31));
        case LT: BINARY(b < a);
        case EQ: BINARY(b == a);
        case MIN: BINARY(min(a, b));
        case MAX: BINARY(max(a, b));
        case NEG: stack[(sp - 1) & 31] = -a; break;
        case NOT: stack[(sp - 1) & 31] = ~a; break;
        case DUP: stack[sp++ & 31] = a; break;
        case OVER: stack[sp++ & 31] = b; break;
        case SWAP: stack[(sp - 1) & 31] = b; stack[(sp - 2) & 31] = a; break;
        case ROT: { int c = stack[(sp - 3) & 31]; stack[(sp - 3) & 31] = b; stack[(sp - 2) & 31] = a; stack[(sp - 1) & 31] = c; } break;
        case DROP: sp--; break;
        case JMP: pc = code[pc]; break;
        case JZ: sp--; pc = a == 0 ? code[pc] : pc + 1; break;
        case JNZ: sp--; pc = a != 0 ? code[pc] : pc + 1; break;
        case LOAD: stack[(sp - 1) & 31] = mem[a & 63]; break;
        case STORE: sp -= 2; mem[a & 63] = b; break;
        case HALT: result[threadIdx.x] = a; return;
        default: result[threadIdx.x] = -1; return;
        }
    }
    result[threadIdx.x] = stack[0];
}

extern "C" __global__ void sparse_switch(const int *in, int *out)
{
    int r;
    switch (in[threadIdx.x]) {
    case -1000000: r = 1; break;
    case 0: r = 2; break;
    case 7: case 8: case 9: r = in[1]; break;
    case 500: r = in[2] * 3; break;
    case 65536: r = 5; break;
    case 0x7fffffff: r = 6; break;
    default: r = 0;
    }
    out[threadIdx.x] = r;
}

extern "C" __global__ void state_machine(const char *text, int n, int *tokens)
{
    int state = 0, count = 0;
    for (int i = 0; i < n; i++) {
        char c = text[i];
        switch (state) {
        case 0: state = c >= '0' && c <= '9' ? 1 : c == '"' ? 2 : c == '/' ? 4 : c == ' ' ? 0 : 5; break;
        case 1: if (c < '0' || c > '9') { count++; state = 0; } break;
        case 2: state = c == '\\' ? 3 : c == '"' ? (count++, 0) : 2; break;
        case 3: state = 2; break;
        case 4: if (c == '\n') state = 0; break;
        case 5: if (c == ' ') { count++; state = 0; } else if (c == '"') goto quote; break;
        quote: state = 2; break;
        }
    }
    tokens[threadIdx.x] = count;
}
