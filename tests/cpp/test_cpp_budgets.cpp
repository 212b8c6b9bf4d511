/* test_cpp_budgets.cpp -- bouma.hpp from coarse to fine: refinements of grids and
 * particles, budgets, samples, and patch by patch.
 *
 *   test_cpp_budgets FOLDER */
#include "claims.hpp"

#include <set>
#include <stdexcept>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible_v<bouma::refinement> &&
              std::is_nothrow_move_constructible_v<bouma::refinement> &&
              !std::is_copy_constructible_v<bouma::particles_refinement>);

constexpr int ny = 32, nx = 64, particles = 3000;

static bouma::dataset written(const bouma::memory &memory)
{
    std::vector<double> heat(ny * nx);
    std::vector<float> flow(ny * nx * 2), x(particles * 2);
    std::vector<std::int32_t> number(particles);
    bouma::options options;
    options.io = memory.io();

    for (std::size_t i = 0; i < heat.size(); i++) {
        heat[i] = double(i);
        flow[2 * i] = flow[2 * i + 1] = float(i % nx);
    }
    for (int i = 0; i < particles; i++) {
        number[i] = i;
        x[2 * i] = float(i % 61);
        x[2 * i + 1] = float(i % 47);
    }
    bouma::dataset run = bouma::dataset::create("run", options);
    bouma::grid_spec spec({ny, nx});
    spec.patch[0] = spec.patch[1] = 16;
    spec.levels = 4;
    bouma::grid plate = run.define_grid("plate", spec);
    bouma::variable_spec raw, pair;
    raw.codec = BOUMA_CODEC_RAW;
    pair.components = 2;
    bouma::variable h = plate.define_variable<double>("heat", raw);
    bouma::variable f = plate.define_variable<float>("flow", pair);
    bouma::particles dust =
        run.define_particles("dust", bouma::particles_spec(2));
    bouma::variable id = dust.define_variable<std::int32_t>("id");
    bouma::columns columns;
    columns.add(dust.position(),
                bouma::view<float, 2>(x.data(), {particles, 2}));
    columns.add(id, number);
    for (int step = 2; step < 8; step += 2) {
        run.begin(step, step);
        h.put_borrow(bouma::view<double, 2>(heat.data(), {ny, nx}));
        f.put_borrow(bouma::view<float, 3>(flow.data(), {ny, nx, 2}));
        dust.put_borrow(columns);
        run.end();
    }
    run.close();
    return run;
}

static void levels_come_one_by_one(const bouma::step &step)
{
    bouma::refinement r = step.grid("plate")["heat"].refine(2);
    bouma::view<const double, 2> a = r.samples<double, 2>();

    CHECK(r.level() == 2 && r.selection().shape[0] == ny / 4);
    CHECK(a.extent(0) == ny / 4 && a.extent(1) == nx / 4);
    CHECK(a(1, 2) == 4 * nx + 8);
    r.next();
    r.next();
    CHECK(r.level() == 0 && (r.samples<double, 2>()(31, 63) == ny * nx - 1));
    CHECK(code_of([&] { r.next(); }) == BOUMA_ENOTFOUND);

    bouma::box part({2, 4}, {3, 7});
    bouma::refinement v = step.grid("plate")["flow"].refine(0, &part);
    bouma::view<const float, 3> c = v.samples<float, 3>();
    CHECK(c.extent(0) == 1 && c.extent(1) == 3 && c.extent(2) == 2);
    CHECK(c(0, 1, 1) == 5);
    std::string text;
    CHECK(code_of([&] { v.samples<float, 2>(); }, &text) == BOUMA_EINVAL);
    CHECK(has(text, "f32 and have 3 axes"));
    CHECK(code_of([&] { v.samples<double, 3>(); }) == BOUMA_EINVAL);
    CHECK(code_of([] { bouma::refinement().next(); }) == BOUMA_EINVAL);
}

static void budgets_end_refinements(const bouma::step &step)
{
    bouma::variable heat = step.grid("plate")["heat"];
    bouma::status st;
    bouma::refinement r = heat.refine(bouma::budget(1), nullptr, &st);

    CHECK(st.code == BOUMA_ELIMIT && !r && r.answer().next_bytes > 1);
    r = heat.refine(bouma::budget(0, ny * nx / 16));
    CHECK(r.answer().level == 2 && r.answer().limit == BOUMA_LIMIT_POINTS);
    CHECK(r.answer().next_points == ny * nx / 4);
    CHECK(code_of([&] { r.next(bouma::budget(0, 5)); }) == BOUMA_ELIMIT);
    CHECK(r.answer().next_points == ny * nx / 4 && r.level() == 2);
    r.next(bouma::budget());
    CHECK(r.answer().complete && r.level() == 0);
    CHECK(heat.level_bytes(0) > 0);
}

static void particles_come_within_budgets(const bouma::step &step)
{
    bouma::particles dust = step.particles("dust");
    bouma::query low;
    low.at_most(dust["id"], 999).returns({dust["id"]});
    bouma::particles_refinement r = dust.refine(low);
    std::set<std::int32_t> seen;

    while (!r.answer().complete) {
        bouma::particle_data some = r.next(bouma::budget(0, 300));
        CHECK(some.count() <= 300);
        for (std::int32_t id : some.column<std::int32_t>("id"))
            CHECK(seen.insert(id).second);
    }
    CHECK(seen.size() == 1000 && *seen.rbegin() == 999);

    std::vector<std::int32_t> into(250);
    bouma::columns columns;
    columns.add(dust["id"], into);
    r = dust.refine(low);
    std::size_t all = 0;
    while (!r.answer().complete)
        all += r.next_into(columns);
    CHECK(all == 1000);

    std::vector<std::int32_t> again(100);
    bouma::columns fewer;
    fewer.add(dust["id"], again);
    CHECK(dust.sample_into(columns, 5) == 250 &&
          dust.sample_into(fewer, 5) == 100);
    into.resize(100);
    CHECK(into == again);
    CHECK(dust.file(0).count == particles);
    CHECK(code_of([&] { dust.node(dust.info().tree_nodes); }) ==
          BOUMA_ENOTFOUND);
}

static void patches_come_one_by_one(const bouma::step &step)
{
    bouma::variable heat = step.grid("plate")["heat"];
    bouma::patch_query some;
    int patches = 0;
    double sum = 0;
    auto each = [&](const bouma_patch_info &, int level,
                    const bouma_selection &what, const void *samples) {
        patches++;
        sum += static_cast<const double *>(samples)[0];
        CHECK(level == 1 && what.shape[0] == 8);
        return true;
    };

    some.within = true;
    some.high = 10;
    some.level = 1;
    heat.for_each_patch(some, each);
    CHECK(patches == 1 && sum == 0);
    some.within = false;
    some.choose = [](const bouma_patch_info &p) {
        return p.box.lo[1] ? -1 : 1;
    };
    heat.for_each_patch(some, each);
    CHECK(patches == 3);
    CHECK(code_of([&] {
              heat.for_each_patch({}, [](auto &&...) { return false; });
          }) == BOUMA_EABORTED);
    bool thrown = false;
    some.choose = [](const bouma_patch_info &) -> int {
        throw std::logic_error("mine");
    };
    try {
        heat.for_each_patch(some, each);
    } catch (const std::logic_error &) {
        thrown = true;
    }
    CHECK(thrown && patches == 3);
}

static void steps_follow_each_other(bouma::dataset &run)
{
    CHECK(run.first_step().step == 2 && run.next_step(2).step == 4);
    CHECK(run.previous_step(6).step == 4);
    CHECK(code_of([&] { run.next_step(6); }) == BOUMA_ENOTFOUND);
    CHECK(run.step(4).record().raw_bytes > 0 && run.step(4).file(0).bytes > 0);
    CHECK(code_of([&] { run.step(4).file(99); }) == BOUMA_ENOTFOUND);
}

int main()
{
    bouma::memory memory;
    bouma::dataset run = written(memory);
    bouma::step step = run.step(2);

    levels_come_one_by_one(step);
    budgets_end_refinements(step);
    particles_come_within_budgets(step);
    patches_come_one_by_one(step);
    steps_follow_each_other(run);
    return failed != 0;
}
