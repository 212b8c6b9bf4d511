#include "work.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>

#include "copies.h"
#include "machine.hpp"
#include "rank.hpp"
#undef memcpy

namespace sg = simgrid::s4u;

uint64_t sim_copied;

namespace
{

const double shortest = 2e-6;    // s: what is put off
const double least_slice = 1e-3; // s: of threads that take turns

struct Ledger {
    double owed = 0;  // s, by the actor that is running
    double spent = 0; // s, by all
    int whole = 0;    // depth of sim_whole_begin()
};

// One simulation is one process, and one actor runs at a time.
Ledger ledger;

void report()
{
    if (std::getenv("BOUMA_SIM_REPORT"))
        std::fprintf(stderr, "work: %.6f s of all ranks together\n",
                     ledger.spent);
}

[[noreturn]] void give_up(const std::string &message)
{
    std::fprintf(stderr, "simulation: BOUMA_SIM_RATES: %s\n", message.c_str());
    std::exit(2);
}

bm_work_rates load()
{
    const char *path = std::getenv("BOUMA_SIM_RATES");
    double speed = sim::machine().processor_speed;
    bm_work_rates r = {};
    char message[512];

    sg::Engine::on_simulation_end_cb(report);
    if (!path || !*path)
        return r;
    std::ifstream file(path);
    std::stringstream lines;

    if (!file)
        give_up(std::string(path) + " cannot be read");
    lines << file.rdbuf();
    std::string text = lines.str();

    if (!sim_rates_parse(&r, text.data(), text.size(), message,
                         sizeof(message)))
        give_up(std::string(path) + ": " + message);
    for (double &w : r.work)
        w *= speed;
    for (bm_codec_rates &c : r.codecs)
        c = {c.encode * speed, c.decode * speed, c.encode_list * speed,
             c.decode_list * speed};
    return r;
}

// On a core: alone, or in turns with other threads of the rank.
void occupy(sim::Rank &rank, double seconds)
{
    double slice = std::max(least_slice, seconds / 16);

    if (rank.threads == 1) {
        sg::this_actor::sleep_for(seconds);
        return;
    }
    for (; seconds > 0; seconds -= slice) {
        rank.free_cores->acquire();
        sg::this_actor::sleep_for(std::min(seconds, slice));
        rank.free_cores->release();
    }
}

} // namespace

extern "C" {

const bm_work_rates *sim_rates(void)
{
    static const bm_work_rates r = load();
    return &r;
}

void sim_pay(void)
{
    double copy = sim_rates()->work[BM_WORK_COPY];
    double seconds = ledger.owed;

    if (ledger.whole)
        return;
    if (copy > 0)
        seconds += (double)sim_copied / copy;
    ledger.owed = 0;
    sim_copied = 0;
    if (seconds <= 0)
        return;
    ledger.spent += seconds;
    occupy(sim::this_rank(), seconds);
}

void sim_work(double bytes, double rate)
{
    if (ledger.whole || !(rate > 0))
        return;
    ledger.owed += bytes / rate;
    if (ledger.owed >= shortest)
        sim_pay();
}

uint64_t sim_whole_begin(void)
{
    ledger.whole++;
    return sim_copied;
}

void sim_whole_end(uint64_t copied)
{
    ledger.whole--;
    sim_copied = copied;
}

int sim_cores(void)
{
    return sim::this_rank().cores;
}

} // extern "C"
