// SPDX-License-Identifier: MIT
//! rust_table: a plug-in in Rust, a table with linear probing. What it shows is how to say the contract's structures:
//! `#[repr(C)]`, fields in the order of engine/aggregator.h, and their C types word for word:
//!
//!     size_t  usize        unsigned, and every enum  u32        uint64_t, int64_t  u64, i64        bool  bool
//!     T *     *mut T, *const T                       a function pointer  unsafe extern "C" fn(...)
//!
//! A structure that the host hands out (Host, Config, Batch) may be cut off after the last field that is used here; one
//! that is handed to the host (Aggregator, Param) must be whole. Memory comes from the host, so no Vec and no Box: what
//! they take would be in no budget. A panic must not leave a function: build with panic=abort.
//!
//!     rustc -O -C panic=abort --crate-type cdylib aggregators/examples/rust_table.rs -o rust_table.so
//!     aggbench verify --plugin ./rust_table.so

use std::os::raw::{c_char, c_void};
use std::{mem, ptr, slice};

const AGB_AGGREGATOR_ABI: u32 = 1;
const AGB_ZEROED: u32 = 1;
const AGB_TAKES_WORDS: u32 = 1;
const AGB_OK: u32 = 0;
const AGB_ERR_MEMORY: u32 = 2;

#[repr(C)]
pub struct Host {
    abi: u32,
    size: u32,
    alloc: unsafe extern "C" fn(*mut Host, usize, u32) -> *mut c_void,
    release: unsafe extern "C" fn(*mut Host, *mut c_void, usize),
    phase: unsafe extern "C" fn(*mut Host, u32, u32),
    emit_begin: unsafe extern "C" fn(*mut Host, u32, usize, *mut *mut u64, *mut *mut u64) -> u32,
    emit_end: unsafe extern "C" fn(*mut Host, u32, usize) -> u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Hash {
    fold: u64,
    multiplier: u64,
}

#[repr(C)]
pub struct Config {
    size: usize,
    kind: u32,
    workers: u32,
    rows: u64,
    params: [i64; 8],
    hash: Hash,
}

#[repr(C)]
pub struct Batch {
    rows: usize,
    keys: *const u64,
}

#[repr(C)]
pub struct Aggregator {
    abi: u32,
    size: u32,
    name: *const c_char,
    summary: *const c_char,
    prediction: *const c_char,
    phases: *const *const c_char,
    params: *const c_void,
    traits: u32,
    create: unsafe extern "C" fn(*mut Host, *const Config, *mut *mut c_void) -> u32,
    consume: unsafe extern "C" fn(*mut c_void, u32, *const Batch) -> u32,
    finish: unsafe extern "C" fn(*mut c_void) -> u32,
    destroy: unsafe extern "C" fn(*mut c_void),
}

/// Constant, and all its pointers lead to constants.
unsafe impl Sync for Aggregator {}

#[derive(Clone, Copy)]
struct Cell {
    key: u64,
    count: u64, // 0: empty
}

struct Table {
    host: *mut Host,
    hash: Hash,
    cells: *mut Cell,
    bits: u32, // log2 of the number of cells
    groups: usize,
}

impl Table {
    fn bytes(bits: u32) -> usize {
        mem::size_of::<Cell>() << bits
    }

    /// Bytes of 0 are empty cells.
    unsafe fn open(&mut self, bits: u32) -> bool {
        let memory = ((*self.host).alloc)(self.host, Self::bytes(bits), AGB_ZEROED) as *mut Cell;
        if memory.is_null() {
            return false;
        }
        self.cells = memory;
        self.bits = bits;
        self.groups = 0;
        true
    }

    unsafe fn add(&mut self, key: u64, count: u64) {
        let hash = (key ^ ((key >> 32) & self.hash.fold)).wrapping_mul(self.hash.multiplier);
        let cells = slice::from_raw_parts_mut(self.cells, 1 << self.bits);
        let mut slot = (hash >> (64 - self.bits)) as usize;
        while cells[slot].count != 0 && cells[slot].key != key {
            slot = (slot + 1) & (cells.len() - 1);
        }
        self.groups += (cells[slot].count == 0) as usize;
        cells[slot] = Cell { key, count: cells[slot].count + count };
    }

    unsafe fn grow(&mut self) -> bool {
        let (old, bits) = (self.cells, self.bits);
        if !self.open(bits + 1) {
            return false;
        }
        for cell in slice::from_raw_parts(old, 1 << bits).iter().filter(|cell| cell.count != 0) {
            self.add(cell.key, cell.count);
        }
        ((*self.host).release)(self.host, old as *mut c_void, Self::bytes(bits));
        true
    }
}

unsafe extern "C" fn create(host: *mut Host, config: *const Config, out: *mut *mut c_void) -> u32 {
    let table = ((*host).alloc)(host, mem::size_of::<Table>(), 0) as *mut Table;
    *out = table as *mut c_void;
    if table.is_null() {
        return AGB_ERR_MEMORY;
    }
    ptr::write(table, Table { host, hash: (*config).hash, cells: ptr::null_mut(), bits: 0, groups: 0 });
    if (*table).open(10) { AGB_OK } else { AGB_ERR_MEMORY }
}

unsafe extern "C" fn consume(state: *mut c_void, _worker: u32, batch: *const Batch) -> u32 {
    let table = &mut *(state as *mut Table);
    for row in 0..(*batch).rows {
        if table.groups == (1 << table.bits) / 2 && !table.grow() {
            return AGB_ERR_MEMORY;
        }
        table.add(*(*batch).keys.add(row), 1);
    }
    AGB_OK
}

unsafe extern "C" fn finish(state: *mut c_void) -> u32 {
    let table = &*(state as *mut Table);
    let (mut keys, mut counts) = (ptr::null_mut(), ptr::null_mut());
    let status = ((*table.host).emit_begin)(table.host, 0, table.groups, &mut keys, &mut counts);
    if status != AGB_OK {
        return status;
    }
    let cells = slice::from_raw_parts(table.cells, 1 << table.bits);
    for (i, cell) in cells.iter().filter(|cell| cell.count != 0).enumerate() {
        *keys.add(i) = cell.key;
        *counts.add(i) = cell.count;
    }
    ((*table.host).emit_end)(table.host, 0, table.groups)
}

unsafe extern "C" fn destroy(state: *mut c_void) {
    let table = state as *mut Table;
    let (host, cells) = ((*table).host, (*table).cells);
    if !cells.is_null() {
        ((*host).release)(host, cells as *mut c_void, Table::bytes((*table).bits));
    }
    ((*host).release)(host, state, mem::size_of::<Table>());
}

struct Phases([*const c_char; 2]);
unsafe impl Sync for Phases {}
static PHASES: Phases = Phases([b"build\0".as_ptr() as *const c_char, ptr::null()]);

#[allow(non_upper_case_globals)]
#[no_mangle]
pub static agb_aggregator_rust_table: Aggregator = Aggregator {
    abi: AGB_AGGREGATOR_ABI,
    size: mem::size_of::<Aggregator>() as u32,
    name: b"rust_table\0".as_ptr() as *const c_char,
    summary: b"linear probing, written in Rust\0".as_ptr() as *const c_char,
    prediction: ptr::null(),
    phases: &PHASES.0 as *const *const c_char,
    params: ptr::null(),
    traits: AGB_TAKES_WORDS,
    create,
    consume,
    finish,
    destroy,
};
