/* test_cpp.cpp -- bouma.hpp without MPI.
 *
 *   test_cpp FOLDER */
#include "claims.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible_v<bouma::dataset> &&
              std::is_nothrow_move_constructible_v<bouma::dataset>);
static_assert(!std::is_copy_constructible_v<bouma::step> &&
              !std::is_copy_constructible_v<bouma::particle_data> &&
              !std::is_copy_constructible_v<bouma::columns>);
static_assert(bouma::type_of<const float>() == BOUMA_TYPE_F32 &&
              bouma::type_of<std::uint16_t>() == BOUMA_TYPE_U16 &&
              bouma::type_of<std::int8_t>() == BOUMA_TYPE_I8 &&
              bouma::type_of<long long>() == BOUMA_TYPE_I64 &&
              bouma::type_of<unsigned long>() == BOUMA_TYPE_U64);
static_assert(
    !std::is_constructible_v<bouma::span<const double>, std::vector<double>>);

/* What std::mdspan has, as far as it matters. */
struct like_mdspan {
    float *data_handle() const
    {
        return first;
    }
    static constexpr std::size_t rank()
    {
        return 2;
    }
    std::size_t extent(std::size_t i) const
    {
        return i == 0 ? 4 : 6;
    }
    std::size_t stride(std::size_t i) const
    {
        return i == 0 ? 1 : 4;
    }
    float *first;
};

static void grids_go_there_and_back()
{
    std::string path = folder + "/grids.bouma";
    std::vector<double> field(6 * 5 * 4), ghosts(8 * 7 * 6, -1);
    bouma::view<double, 3> a(field.data(), {6, 5, 4});
    bouma::view<double, 3> inner =
        bouma::view<double, 3>(ghosts.data(), {8, 7, 6})
            .sub({1, 1, 1}, {7, 6, 5});

    {
        bouma::grid_spec spec({6, 5, 4});
        spec.unit = "m";
        spec.levels = 2;
        bouma::dataset run = bouma::dataset::create(path);
        bouma::grid g = run.define_grid("grid", spec);
        bouma::variable v = g.define_variable<double>("v");
        bouma::variable w = g.define_variable<float>("w");
        bouma::variable_spec pairs;
        pairs.components = 2;
        bouma::variable p = g.define_variable<std::int32_t>("pairs", pairs);
        std::vector<std::int32_t> both(6 * 5 * 4 * 2);
        for (std::size_t i = 0; i < both.size(); i++)
            both[i] = static_cast<std::int32_t>(i);

        run.attributes().set("title", "numbers");
        run.begin(3, 0.3);
        run.step_attributes().set("half", 0.5);
        run.step_attributes().set("many", std::vector<std::int64_t>{1, 2, 3});
        v.put_borrow(a);
        w.put_borrow(inner.sub({0, 0, 0}, {2, 5, 4}),
                     bouma::box({0, 0, 0}, {2, 5, 4}));
        w.put_copy(inner.sub({2, 0, 0}, {6, 5, 4}),
                   bouma::box({2, 0, 0}, {6, 5, 4}));
        p.put_borrow(bouma::view<std::int32_t, 4>(both.data(), {6, 5, 4, 2}));
        for (int z = 0; z < 6; z++) /* they are borrowed, and no copies */
            for (int y = 0; y < 5; y++)
                for (int x = 0; x < 4; x++)
                    a(z, y, x) = inner(z, y, x) = 100 * z + 10 * y + x;
        run.end();
        CHECK(run.record().raw_bytes > 0);
        run.close();
    }

    bouma::dataset run = bouma::dataset::open(path);
    CHECK(run.steps().size() == 1 && run.last_step().step == 3);
    CHECK(run.attributes().get<std::string>("title") == "numbers");
    bouma::step step = run.step(3);
    bouma::dataset moved = std::move(run);
    moved = bouma::dataset(); /* the step keeps what it needs */
    CHECK(step.attributes().get<double>("half") == 0.5);
    CHECK((step.attributes().get<std::vector<std::int64_t>>("many") ==
           std::vector<std::int64_t>{1, 2, 3}));
    bouma::grid g = step.grid("grid");
    CHECK(g.info().shape[0] == 6 && std::string(g.info().unit) == "m");
    CHECK(g.variables().size() == 3 && step.grids().size() == 1);

    std::vector<double> back(6 * 5 * 4);
    g["v"].read(bouma::view<double, 3>(back.data(), {6, 5, 4}));
    CHECK(back == field);
    bouma::histogram all = g["v"].histogram(bouma::bins(7));
    CHECK(all.bins.size() == 7 && all.about.all.lower == 120 &&
          all.about.basis == BOUMA_BASIS_EXACT);
    bouma::array<float> half = g["v"].read<float>(1);
    CHECK((half.shape == std::vector<std::int64_t>{3, 3, 2}));
    CHECK(half.as<3>()(2, 1, 1) == 422);
    bouma::box part({1, 2, 3}, {3, 5, 4});
    bouma::array<double> few = g["w"].read<double>(0, &part);
    CHECK((few.shape == std::vector<std::int64_t>{2, 3, 1}));
    CHECK(few.values.size() == 6 && few.values[0] == 123);
    CHECK(few.values[3] == -1); /* it was copied before */
    CHECK(g["w"].read<double>(0, part).values == few.values);
    CHECK(g["w"].read<double>(0, {{1, 4, 3}, {2, 5, 4}}).values ==
          std::vector<double>{143});
    double one = 0;
    g["w"].read(bouma::view<double, 3>(&one, {1, 1, 1}), 0,
                bouma::box({1, 4, 3}, {2, 5, 4}));
    CHECK(one == 143);
    CHECK(g["w"].read<double>().as<3>()(1, 4, 3) == 143);
    std::vector<std::int64_t> twice{3, 3}, missing{3, 4};
    bouma::array<double> series = g["v"].read_series<double>(twice, 0, part);
    CHECK((series.shape == std::vector<std::int64_t>{2, 2, 3, 1}));
    CHECK(series.as<4>()(1, 1, 2, 0) == 243);
    CHECK(g["pairs"].read_series<int>(twice).shape.size() == 5);
    bouma::status absent;
    CHECK(g["v"]
              .read_series<double>(missing, 0, &part, BOUMA_CONVERT_EXACT,
                                   &absent)
              .values.empty());
    CHECK(absent.code == BOUMA_ENOTFOUND);
    bouma::box empty({1, 2, 3}, {1, 2, 3});
    bouma::status used{BOUMA_EIO, "of a call before"};
    CHECK(g["w"]
              .read<double>(0, &empty, BOUMA_CONVERT_EXACT, &used)
              .values.empty() &&
          used);
    bouma::array<int> pairs = g["pairs"].read<int>();
    CHECK(pairs.shape.size() == 4 && pairs.as<4>()(5, 4, 3, 1) == 239);
    CHECK(g["v"].range().high == 543);

    double row[4], coarse[3][3][2];
    step.read({bouma::request(g["v"], bouma::view<double, 3>(row, {1, 1, 4}),
                              bouma::box({2, 3, 0}, {3, 4, 4})),
               bouma::request(
                   g["v"], bouma::view<double, 3>(&coarse[0][0][0], {3, 3, 2}),
                   bouma::box({0, 0, 0}, {6, 5, 4}), 1)});
    CHECK(row[3] == 233 && coarse[2][1][1] == 422);
    bouma_bounds cut = g.bounds_of(&part);
    CHECK(cut.low[0] == 3 && cut.high[2] == 3);
    CHECK(g.box_of(cut).hi[0] == 3 && g.box_of(cut).lo[2] == 3);
}

static void arrays_of_other_orders()
{
    std::string path = folder + "/orders.bouma";
    std::vector<float> left(24);
    bouma::dataset run = bouma::dataset::create(path);
    bouma::grid g = run.define_grid("grid", bouma::grid_spec({4, 6}));
    bouma::variable v = g.define_variable<float>("v");
    bouma::variable w = g.define_variable<float>("w");

    for (std::size_t i = 0; i < 24; i++)
        left[i] = static_cast<float>(i);
    run.begin(0, 0);
    v.put_borrow(bouma::column_major<float, 2>(left.data(), {4, 6}));
    w.put_borrow(bouma::view<float, 2>(like_mdspan{left.data()}));
    run.end();
    run.close();
    bouma::step step = run.step(0);
    CHECK(step.grid("grid")["v"].read<float>().as<2>()(3, 1) == 7);
    CHECK(step.grid("grid")["v"].read<float>().values ==
          step.grid("grid")["w"].read<float>().values);
}

struct grain {
    double position[3];
    std::array<float, 2> spin;
    std::uint64_t id;
};

static void particles_go_there_and_back()
{
    std::string path = folder + "/particles.bouma";
    std::vector<grain> grains(300);
    std::vector<double> mass(300);
    bouma::dataset run = bouma::dataset::create(path);
    bouma::particles_spec spec(3);
    spec.type = BOUMA_TYPE_F64;
    bouma::particles dust = run.define_particles("dust", spec);
    bouma::variable_spec two;
    two.components = 2;
    bouma::variable spin = dust.define_variable<float>("spin", two);
    bouma::variable id = dust.define_variable<std::uint64_t>("id");
    bouma::variable m = dust.define_variable<double>("mass");
    bouma::columns c;

    c.add(dust.position(), grains, &grain::position)
        .add(spin, grains, &grain::spin)
        .add(id, grains, &grain::id)
        .add(m, mass);
    run.begin(0, 0);
    dust.put_borrow(c);
    for (std::size_t i = 0; i < 300; i++) { /* borrowed, and no copies */
        double at = static_cast<double>(i) / 300;
        grains[i] = {{at, 1 - at, 0.5}, {float(i), float(2 * i)}, i};
        mass[i] = 0.5 * static_cast<double>(i);
    }
    run.end();
    run.close();

    bouma::step step = run.step(0);
    bouma::particles set = step.particles("dust");
    CHECK(set.info().count == 300 && set.variables().size() == 3);
    CHECK(step.particle_sets().size() == 1);
    bouma::query q;
    q.box({0.25, 0, 0}, {0.5, 1, 1})
        .at_least(set["id"], 80)
        .at_most(set["mass"], 60.0);
    q.where(set["spin"], 160, 239.5, 1);
    CHECK(set.count(q) == 40);
    bouma::particle_data some = set.read(q);
    CHECK(some.count() == 40 && some.column<std::uint64_t>("id").size() == 40);
    for (std::uint64_t i : some.column<std::uint64_t>("id"))
        CHECK(i >= 80 && i < 120);
    CHECK(some.column<double>("position").size() == 120);
    CHECK(set.count(bouma::query(q).where("id < 90 | id >= 115")) == 15);
    CHECK(set.count(bouma::query().where("!(id > 2) or mass == 60")) == 4);
    bouma::status wrong;
    set.check_where("ids < 90", &wrong);
    CHECK(wrong.code == BOUMA_ENOTFOUND);
    bouma::histogram ids = set.histogram(set["id"], bouma::bins(3), q);
    CHECK(ids.bins.size() == 3 && ids.about.basis == BOUMA_BASIS_EXACT &&
          ids.about.all.lower == 40);
    ids = set.histogram(set["id"], bouma::bins::between({0, 100, 300}));
    CHECK(ids.bins[0].lower == 100 && ids.bins[1].upper == 200);
    ids = set.histogram(set["position"],
                        bouma::bins(2).component(1).index_only());
    CHECK(ids.about.basis == BOUMA_BASIS_INDEX && ids.about.points == 0);
    bouma::status refused;
    set.histogram(set["id"], bouma::bins(3, 2, 1), q, nullptr, &refused);
    CHECK(refused.code == BOUMA_EINVAL);
    CHECK(set.sample(10, 1).count() == 10 &&
          set.restart(nullptr).count() == 300);
    CHECK(set.count(bouma::query().quality(0.5)) == 150);
    /* Axes that are left out have no limits. */
    CHECK(set.count(bouma::query().box({0.25}, {0.5})) ==
          set.count(bouma::query().box({0.25, -9, -9}, {0.5, 9, 9})));
    CHECK(set.count(bouma::query().box({0.25}, {0.5})) > 0);
    bouma::query only;
    only.returns({set["mass"]}).interleaved();
    CHECK(set.read(only).handle()->variable_count == 1);

    std::vector<grain> back(300);
    std::vector<double> x(900);
    bouma::columns into, xs;
    into.add(set.position(), back, &grain::position)
        .add(set["id"], back, &grain::id);
    CHECK(set.read_into(into) == 300);
    for (const grain &b : back)
        CHECK(b.position[0] == static_cast<double>(b.id) / 300);
    xs.add(set.position(), bouma::view<double, 2>(x.data(), {300, 3}));
    CHECK(set.restart_into(xs, nullptr) == 300 && x[2] == 0.5);

    std::uint64_t seen = 0;
    set.for_each(bouma::query(), [&seen](const bouma_batch &b) {
        seen += b.count;
        return true;
    });
    CHECK(seen == 300);
    CHECK(code_of([&] {
              set.for_each(bouma::query(),
                           [](const bouma_batch &) { return false; });
          }) == BOUMA_EABORTED);
    bool caught = false;
    try {
        set.for_each(bouma::query(), [](const bouma_batch &) -> bool {
            throw std::string("mine");
        });
    } catch (const std::string &what) {
        caught = what == "mine";
    }
    CHECK(caught);
}

static void failures_throw_or_are_told()
{
    std::string path = folder + "/failures.bouma", text;
    bouma::status st;

    CHECK(code_of([&] { bouma::dataset::open(path); }, &text) ==
          BOUMA_ENOTFOUND);
    CHECK(has(text, "failures.bouma"));
    bouma::dataset none = bouma::dataset::open(path, {}, &st);
    CHECK(!none && !st && st.code == BOUMA_ENOTFOUND);
    CHECK(has(st.message, "failures.bouma"));
    none.begin(0, 0, &st);
    CHECK(st.code == BOUMA_EINVAL && has(st.message, "not open"));

    bouma::options o;
    CHECK(code_of([&] { o.set("file_sighs", "1"); }, &text) == BOUMA_EINVAL);
    CHECK(has(text, "file_size"));
    CHECK(code_of([&] { o.set("local", std::string("a\0b", 3)); }, &text) ==
          BOUMA_EINVAL);
    CHECK(has(text, "zero byte"));
    std::string cut = path + std::string("\0x", 2);
    CHECK(code_of([&] { bouma::dataset::create(cut); }) == BOUMA_EINVAL);
    CHECK(code_of([&] { bouma::dataset::open(path); }) == BOUMA_ENOTFOUND);
    o.set("clobber", "yes").set("trace", path + ".json");
    bouma::dataset run = bouma::dataset::create(path, o, &st);
    CHECK(st && run);
    bouma::grid g = run.define_grid("grid", bouma::grid_spec({4, 6}));
    bouma::variable v = g.define_variable<float>("v");
    std::vector<float> a(24);
    run.begin(0, 0);
    CHECK(code_of(
              [&] {
                  v.put_borrow(bouma::view<float, 2>(a.data(), {6, 4}));
              },
              &text) == BOUMA_EINVAL);
    CHECK(has(text, "the array has 6 x 4 values, the samples 4 x 6"));
    CHECK(code_of([&] {
              v.put_borrow(bouma::view<float, 2>(a.data(), {4, 6}),
                           bouma::box({INT64_MIN, 0}, {INT64_MAX, 6}));
          }) == BOUMA_EINVAL);
    v.put_borrow(bouma::view<float, 2>(a.data(), {4, 6}));
    run.end(&st);
    CHECK(st.code == BOUMA_EINVAL); /* the put that failed */
    run.begin(0, 0);
    v.put_borrow(bouma::view<float, 2>(a.data(), {0, 6}),
                 bouma::box({2, 0}, {2, 6}));
    v.put_borrow(bouma::view<float, 2>(a.data(), {4, 6}));
    run.end();
    bouma::step step = run.step(0);
    CHECK(code_of([&] { step.grid("greed"); }, &text) == BOUMA_ENOTFOUND);
    CHECK(has(text, "grid"));
    CHECK(code_of([&] { step.grid("grid")["w"]; }) == BOUMA_ENOTFOUND);
    CHECK(code_of([&] { step.grid("grid")["v"].read<float>(9); }) ==
          BOUMA_ENOTFOUND);
    CHECK(code_of([&] { run.step(7); }) == BOUMA_ENOTFOUND);
    CHECK(code_of([&] { run.attributes().get<double>("none"); }) ==
          BOUMA_ENOTFOUND);
    float few[4];
    CHECK(code_of(
              [&] {
                  step.read({bouma::request(step.grid("grid")["v"],
                                            bouma::view<float, 2>(few, {2, 2}),
                                            bouma::box({0, 0}, {2, 3}))});
              },
              &text) == BOUMA_EINVAL);
    CHECK(has(text, "2 x 2"));
    run.close();
}

static void mistakes_with_particles()
{
    bouma::dataset run = bouma::dataset::create(folder + "/mistakes.bouma");
    bouma::particles dust =
        run.define_particles("dust", bouma::particles_spec(2));
    bouma::variable id = dust.define_variable<int>("id");
    std::vector<float> x(20), three(30);
    std::vector<int> ids(9);
    bouma::columns uneven, wide;
    bouma::status st;

    uneven.add(dust.position(), bouma::view<float, 2>(x.data(), {10, 2}))
        .add(id, ids);
    wide.add(dust.position(), bouma::view<float, 2>(three.data(), {10, 3}));
    run.begin(0, 0);
    dust.put_borrow(uneven, &st);
    CHECK(st.code == BOUMA_EINVAL && has(st.message, "10 and 9 particles"));
    dust.put_borrow(wide, &st);
    CHECK(st.code == BOUMA_EINVAL && has(st.message, "has 2 component(s)"));
    run.end(&st);
    CHECK(st.code == BOUMA_EINVAL);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    grids_go_there_and_back();
    arrays_of_other_orders();
    particles_go_there_and_back();
    failures_throw_or_are_told();
    mistakes_with_particles();
    return failed != 0;
}
